#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
id: dummy_stages
label: Dummy stages
doc: |
  Runs three stages that only wait, to test priorities, pilots and the failure of a pilot. As in
  real stages, a warm worker stays loaded from one page to the next. The default times are those of
  a measurement that is often used for comparison.
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
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
    doc: The dummy pages of the data set, as ocr-dummy-pages writes them.
  faster:
    type: float
    default: 1
    label: Speed-up factor
    doc: The time of every stage is divided by this factor.
  scale_1: {type: float, default: 46, label: Seconds of the first stage for a page of size 1}
  scale_2: {type: float, default: 38.5, label: Seconds of the second stage for a page of size 1}
  scale_3: {type: float, default: 23, label: Seconds of the third stage for a page of size 1}
  difference_1: {type: float, default: 10, label: Maximum deviation of the first stage in seconds}
  difference_2: {type: float, default: 9.5, label: Maximum deviation of the second stage in seconds}
  difference_3: {type: float, default: 15, label: Maximum deviation of the third stage in seconds}

outputs:
  done:
    type: File[]
    label: Processed pages
    doc: The pages with the times of the three stages.
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
