#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
id: spd_online_filter
label: SPD online filter
doc: |
  Converts raw detector frames to ROOT files. The workflow decodes the frames, finds events, filters
  and verifies them, and merges the remaining events. Frames are processed separately. The events of
  many frames are merged in the order of the frames.
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"

# Inner keys that are CWL keywords have the prefix too, so that other runners ignore them.
sluice:match:
  sluice:type: raw
  detector: spd
sluice:bind:
  sluice:run: run
  period: period

# Raw data are deleted from the input storage when the output is safe.
sluice:retention: {input: delete}

requirements:
  ScatterFeatureRequirement: {}

inputs:
  frames:
    type: File[]
    label: Raw frames
    doc: The frame files of the data set, in the order of runs and frames.
  run:
    type: int?
    label: Run number
    doc: A frame whose header names another run is refused.
  period:
    type: string?
    label: Period of data taking
    doc: It applies to frames that name no period. A frame that names another period is refused.
  time_gap_ns:
    type: int
    default: 110
    label: Time gap in ns
    doc: Two hits further apart than this do not belong to one event.
  min_hits:
    type: int
    default: 6
    label: Minimum number of hits
    doc: Groups with fewer hits are noise.
  min_multiplicity:
    type: int
    default: 4
    label: Minimum number of tracks
    doc: Events with fewer tracks are dropped.
  min_calorimeter_energy:
    type: float
    default: 1500.0
    label: Minimum calorimeter energy in MeV
    doc: Events with less energy in the calorimeter are dropped.

outputs:
  events:
    type: File
    label: Filtered events
    doc: A ROOT file with the trees events and frames.
    outputSource: merge/merged
  monitoring:
    type: File
    label: Monitoring histograms
    doc: A JSON file with the histograms and the counts of every frame.
    outputSource: merge_monitoring/merged

steps:
  decode:
    label: Decode
    doc: Checks a raw frame and sorts its hits by time. A damaged frame fails without a retry.
    scatter: raw
    in:
      raw: frames
      run: run
      period: period
    out: [hits]
    sluice:boundary: {minimum: 0.9, sufficient: 1.0}
    sluice:retry: {attempts: 3}
    run:
      class: CommandLineTool
      id: decode_tool
      label: spd-decode
      doc: Reads a raw frame and writes its hits in the order of time.
      baseCommand: spd-decode
      inputs:
        raw:
          type: File
          inputBinding: {position: 1}
        run:
          type: int?
          inputBinding: {prefix: --run}
        period:
          type: string?
          inputBinding: {prefix: --period}
      arguments: [--out, $(inputs.raw.nameroot).hits]
      outputs:
        hits:
          type: File
          outputBinding: {glob: $(inputs.raw.nameroot).hits}
      requirements:
        # NumPy would start a thread for each core, which costs more than the whole step.
        EnvVarRequirement: {envDef: {OPENBLAS_NUM_THREADS: "1"}}
        ResourceRequirement: {coresMin: 1, ramMin: 256, tmpdirMin: 16, outdirMin: 64}
        ToolTimeLimit: {timelimit: 60}
      permanentFailCodes: [64, 65]

  build_events:
    label: Build events
    doc: Finds events in the stream of hits by the time gaps between the hits.
    scatter: hits
    in:
      hits: decode/hits
      time_gap_ns: time_gap_ns
      min_hits: min_hits
    out: [events]
    sluice:boundary: {minimum: 0.9, sufficient: 1.0}
    sluice:retry: {attempts: 3}
    run:
      class: CommandLineTool
      id: build_events_tool
      label: spd-build-events
      doc: Reads the hits of one frame and writes its events.
      baseCommand: spd-build-events
      inputs:
        hits:
          type: File
          inputBinding: {position: 1}
        time_gap_ns:
          type: int
          inputBinding: {prefix: --time-gap-ns}
        min_hits:
          type: int
          inputBinding: {prefix: --min-hits}
      arguments: [--out, $(inputs.hits.nameroot).events]
      outputs:
        events:
          type: File
          outputBinding: {glob: $(inputs.hits.nameroot).events}
      requirements:
        EnvVarRequirement: {envDef: {OPENBLAS_NUM_THREADS: "1"}}
        ResourceRequirement: {coresMin: 1, ramMin: 256, tmpdirMin: 16, outdirMin: 64}
        ToolTimeLimit: {timelimit: 60}
      permanentFailCodes: [64, 65]

  filter_events:
    label: Filter events
    doc: Keeps the events with enough tracks and enough energy in the calorimeter.
    scatter: events
    in:
      events: build_events/events
      min_multiplicity: min_multiplicity
      min_calorimeter_energy: min_calorimeter_energy
    out: [selected]
    sluice:boundary: {minimum: 0.9, sufficient: 1.0}
    sluice:retry: {attempts: 3}
    run:
      class: CommandLineTool
      id: filter_events_tool
      label: spd-filter
      doc: Reads the events of one frame and writes the selected events.
      baseCommand: spd-filter
      inputs:
        events:
          type: File
          inputBinding: {position: 1}
        min_multiplicity:
          type: int
          inputBinding: {prefix: --min-multiplicity}
        min_calorimeter_energy:
          type: float
          inputBinding: {prefix: --min-calorimeter-energy}
      arguments: [--out, $(inputs.events.nameroot).selected]
      outputs:
        selected:
          type: File
          outputBinding: {glob: $(inputs.events.nameroot).selected}
      requirements:
        EnvVarRequirement: {envDef: {OPENBLAS_NUM_THREADS: "1"}}
        ResourceRequirement: {coresMin: 1, ramMin: 256, tmpdirMin: 16, outdirMin: 64}
        ToolTimeLimit: {timelimit: 60}
      permanentFailCodes: [64, 65]

  verify:
    label: Verify
    doc: Checks counts, order and ranges of the events, and draws the monitoring histograms.
    scatter: selected
    in:
      selected: filter_events/selected
    out: [checked, histograms]
    sluice:boundary: {minimum: 0.9, sufficient: 1.0}
    sluice:retry: {attempts: 3}
    run:
      class: CommandLineTool
      id: verify_tool
      label: spd-verify
      doc: Reads the events of one frame, and writes the same events and their histograms.
      baseCommand: spd-verify
      inputs:
        selected:
          type: File
          inputBinding: {position: 1}
      arguments:
        - --out
        - $(inputs.selected.nameroot).checked
        - --histograms
        - $(inputs.selected.nameroot).histograms
      outputs:
        checked:
          type: File
          outputBinding: {glob: $(inputs.selected.nameroot).checked}
        histograms:
          type: File
          outputBinding: {glob: $(inputs.selected.nameroot).histograms}
      requirements:
        EnvVarRequirement: {envDef: {OPENBLAS_NUM_THREADS: "1"}}
        ResourceRequirement: {coresMin: 1, ramMin: 256, tmpdirMin: 16, outdirMin: 64}
        ToolTimeLimit: {timelimit: 60}
      permanentFailCodes: [64, 65]

  merge:
    label: Merge events
    doc: Joins the events of many frames in order. The ROOT file is named after the first frame.
    in:
      parts: verify/checked
    out: [merged]
    sluice:boundary: {minimum: 1.0, sufficient: 1.0}
    sluice:retry: {attempts: 3}
    sluice:merge: {files: 25}
    run:
      class: CommandLineTool
      id: merge_tool
      label: spd-merge
      doc: Reads the events of many frames and writes one ROOT file.
      baseCommand: spd-merge
      inputs:
        parts: File[]
      # cwltool needs quadratic time for a File[] with an inputBinding, but not for an argument.
      arguments: [--out, "$(inputs.parts[0].nameroot).root", $(inputs.parts)]
      outputs:
        merged:
          type: File
          outputBinding: {glob: "$(inputs.parts[0].nameroot).root"}
      requirements:
        EnvVarRequirement: {envDef: {OPENBLAS_NUM_THREADS: "1"}}
        ResourceRequirement: {coresMin: 1, ramMin: 1024, tmpdirMin: 16, outdirMin: 128}
        ToolTimeLimit: {timelimit: 600}
      permanentFailCodes: [64, 65]

  merge_monitoring:
    label: Merge monitoring
    doc: Adds up the histograms of many frames. The file is named after the first frame.
    in:
      parts: verify/histograms
    out: [merged]
    sluice:boundary: {minimum: 1.0, sufficient: 1.0}
    sluice:retry: {attempts: 3}
    sluice:merge: {files: 25}
    run:
      class: CommandLineTool
      id: merge_monitoring_tool
      label: spd-merge-monitoring
      doc: Reads the histograms of many frames and writes their sums.
      baseCommand: spd-merge-monitoring
      inputs:
        parts: File[]
      arguments: [--out, "$(inputs.parts[0].nameroot).monitoring.json", $(inputs.parts)]
      outputs:
        merged:
          type: File
          outputBinding: {glob: "$(inputs.parts[0].nameroot).monitoring.json"}
      requirements:
        EnvVarRequirement: {envDef: {OPENBLAS_NUM_THREADS: "1"}}
        ResourceRequirement: {coresMin: 1, ramMin: 256, tmpdirMin: 16, outdirMin: 64}
        ToolTimeLimit: {timelimit: 600}
      permanentFailCodes: [64, 65]
