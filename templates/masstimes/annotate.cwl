#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:match: {sluice:type: mt-items, every: {files: 100, hours: 24}}
sluice:bind: {gold: asset:mt-gold}
id: annotate
label: People say which times are those of masses
doc: |
  Each item is shown to people until two say the same. Items whose answers are known tell who looks
  from who does not. The page is in Polish. Other runners refuse the step: there its answers are given as files.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  items:
    type: File[]
    label: Items, as mt-items writes them
  gold:
    type: File
    label: Items whose answers are known, one a line
outputs:
  answers:
    type: File[]
    label: What people say of each
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
