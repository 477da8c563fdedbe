#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
id: dummy_stages
label: Dummy stages
doc: |
  Three stages that do nothing but take their time: for trying out priorities, pilots and what
  happens when one dies. They stay loaded from one page to the next, as real ones do. The times are
  those of a measurement that is often compared with.
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"

sluice:match:
  sluice:type: dummies

requirements:
  ScatterFeatureRequirement: {}

inputs:
  pages:
    type: File[]
    label: Pages
    doc: The data set, as ocr-dummy-pages writes it.
  faster:
    type: float
    default: 1
    label: How much faster
    doc: With 100 every stage takes a hundredth of its time.
  scale_1: {type: float, default: 46, label: Seconds of the first stage}
  scale_2: {type: float, default: 38.5, label: Seconds of the second stage}
  scale_3: {type: float, default: 23, label: Seconds of the third stage}
  difference_1: {type: float, default: 10, label: "First stage, more or less"}
  difference_2: {type: float, default: 9.5, label: "Second stage, more or less"}
  difference_3: {type: float, default: 15, label: "Third stage, more or less"}

outputs:
  done:
    type: File[]
    label: Pages that are done
    outputSource: third/done

steps:
  first:
    scatter: page
    in:
      page: pages
      stage: {default: first}
      scale: scale_1
      difference: difference_1
      faster: faster
    out: [done]
    sluice:warm: true
    run: tools/ocr-dummy.cwl

  second:
    scatter: page
    in:
      page: first/done
      stage: {default: second}
      scale: scale_2
      difference: difference_2
      faster: faster
    out: [done]
    sluice:warm: true
    run: tools/ocr-dummy.cwl

  third:
    scatter: page
    in:
      page: second/done
      stage: {default: third}
      scale: scale_3
      difference: difference_3
      faster: faster
    out: [done]
    sluice:warm: true
    run: tools/ocr-dummy.cwl
