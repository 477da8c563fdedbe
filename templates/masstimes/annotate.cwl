#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:match: {sluice:type: mt-items, every: {files: 100, hours: 24}}
sluice:bind: {gold: asset:mt-gold}
id: annotate
label: Annotation of mass times
doc: |
  Annotators decide which times on the pages are mass times. Each item is shown until two annotators
  give the same answer. Gold items, whose answers are known, reveal annotators who do not read the
  items. The page is in Polish. Other runners refuse the step; give them the annotations as files.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  items:
    type: File[]
    label: Items
    doc: JSON files with one item each, as mt-items writes them.
  gold:
    type: File
    label: Gold items
    doc: A JSON Lines file of items whose answers are known, with one item per line.
outputs:
  answers:
    type: File[]
    label: Annotations
    doc: JSON files with one item and its answer each.
    outputSource: ask/answer
    sluice:collect: mt-answers
steps:
  ask:
    sluice:ask:
      language: pl
      question: Czy zaznaczona godzina to początek mszy?
      labels: {"yes": Tak, "no": Nie}
      instructions: >-
        Widzisz fragment strony parafii, a w nim zaznaczoną godzinę. Czy o tej godzinie zaczyna się
        msza święta, w niedzielę albo w dzień powszedni? Godziny kancelarii, spowiedzi, różańca,
        nabożeństw, prób i spotkań, numery, daty i ceny to „nie”.
      help: >-
        Msza w jednym dniu roku, na przykład w Wigilię, to „nie”: pytamy o stały porządek.
      agree: 2
      gold: gold
      link: 30
    scatter: item
    in: {item: items, gold: gold}
    out: [answer]
    run:
      class: Operation
      inputs: {item: File, gold: File}
      outputs: {answer: File}
