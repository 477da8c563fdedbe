"""Secret parameters: where a template may use them, and what the plan contains."""

# ruff: noqa: E501 (one case a line keeps the table readable)

import pytest

from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.templates.plan import Plan
from sluice.cwl import compile_template
from tests.unit.cwl.plans.secret_template import TEMPLATE
from tests.unit.cwl.samples import edit_text, remove_marks

NESTED = """\
    run:
      class: Workflow
      inputs: {frame: File, key: string, run: string?}
      outputs: {answer: {type: File, outputSource: inner/answer}}
      steps:
        inner:
          in: {frame: frame, token: key}
          out: [answer]
          run:
            class: CommandLineTool
            baseCommand: ask
            hints: {cwltool:Secrets: {secrets: [token]}}
            requirements: {EnvVarRequirement: {envDef: [{envName: T, envValue: $(inputs.token)}]}}
            inputs: {frame: {type: File, inputBinding: {}}, token: string}
            outputs: {answer: stdout}
"""
TOOL = TEMPLATE[TEMPLATE.index("    run:\n") :]
#: The nested workflow scatters, so that its steps become steps of the plan.
SCATTERED_WORKFLOW = (
    NESTED.replace("frame: File, key", 'frame: "File[]", key')
    .replace("        inner:\n", "        inner:\n          scatter: frame\n")
    .replace("{type: File, outputSource", '{type: "File[]", outputSource')
)


def compile_plan(*edits: tuple[str, str]) -> Plan:
    compiled = compile_template(edit_text(*edits, text=TEMPLATE), name="places")
    assert compiled.plan is not None, compiled.errors
    return compiled.plan


def test_secret_is_not_a_parameter_of_the_chain() -> None:
    plan = compile_plan()
    ref = SecretRef(name="places-api")
    assert plan.secrets == {"token": ref}
    assert set(plan.parameters) == {"run"}
    assert plan.bind == {"run": "run"}
    [step] = plan.steps
    assert step.needs.secrets == {"key": ref}
    assert set(step.arguments) == {"run"}
    assert "Secrets" not in str(step.tool), "the tool still has the Secrets hint"


def test_plan_may_have_no_secrets() -> None:
    plan = compile_plan(("token: secret:places-api, ", ""), ("{secrets: [key]}", "{secrets: []}"))
    assert (plan.secrets, plan.steps[0].needs.secrets, plan.steps[0].needs.sandbox) == (
        {},
        {},
        False,
    )


#: Adds a second step, whose tool gets no secret.
SECOND_STEP = (
    TOOL
    + """\
  sort:
    scatter: answer
    in: {answer: ask/answer}
    out: [sorted]
    run:
      class: CommandLineTool
      baseCommand: sort
      inputs: {answer: File}
      outputs: {sorted: stdout}
"""
)
IMAGE = "DockerRequirement: {dockerPull: 'debian:12'}"


@pytest.mark.parametrize(
    ("edits", "needing"),
    [
        ([(TOOL, SECOND_STEP)], ["ask"]),
        ([(TOOL, NESTED)], ["ask"]),
        ([(TOOL, SCATTERED_WORKFLOW), ("    scatter: frame\n    in", "    in")], ["ask.inner"]),
        ([("      hints:\n", f"      hints:\n        {IMAGE}\n")], ["ask"]),
        ([("      requirements:\n", f"      requirements:\n        {IMAGE}\n")], []),
    ],
)
def test_tool_with_a_secret_needs_a_sandbox_unless_it_runs_in_a_container(
    edits: list[tuple[str, str]], needing: list[str]
) -> None:
    assert [step.name for step in compile_plan(*edits).steps if step.needs.sandbox] == needing


@pytest.mark.parametrize(
    "edit",
    [
        ("  token: string\n", "  token: string?\n"),
        ("      hints:\n        cwltool:Secrets: {secrets: [key]}", "      hints:\n        - {class: cwltool:Secrets, secrets: [key]}"),
        ("    out: [answer]\n", "    hints: {cwltool:Secrets: {secrets: [key]}}\n    out: [answer]\n"),
        ('{TOKEN: "Bearer $(inputs.key)"}', "[{envName: A, envValue: $(inputs.key)}, {envName: B, envValue: '${return inputs.run}'}]"),
        ('        answer: stdout\n', '        answer: stdout\n      arguments: [$(inputs.run), $(inputs.keys), \'$(inputs["run"])\', "$(inputs.run + 1)"]\n'),
    ],
)  # fmt: skip
def test_equivalent_forms_of_a_secret_give_the_same_plan(edit: tuple[str, str]) -> None:
    edits = (
        [edit] if "keys" not in edit[1] else [(edit[0], edit[1].replace("$(inputs.keys), ", ""))]
    )
    assert compile_plan(*edits).steps[0].needs.secrets == {"key": SecretRef(name="places-api")}


def test_secret_reaches_a_nested_workflow_inside_a_job() -> None:
    [step] = compile_plan((TOOL, NESTED)).steps
    assert step.tool["class"] == "Workflow"
    assert step.needs.secrets == {"key": SecretRef(name="places-api")}
    assert "Secrets" not in str(step.tool)


def test_secret_reaches_the_steps_of_a_nested_workflow() -> None:
    [step] = compile_plan(
        (TOOL, SCATTERED_WORKFLOW), ("    scatter: frame\n    in", "    in")
    ).steps
    assert step.name == "ask.inner"
    assert step.needs.secrets == {"token": SecretRef(name="places-api")}


CASES: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "name": ([("{token: secret:places-api", "{¦token: secret:a/b")], ["'sluice:bind' token: 'a/b' has '/'"]),
    "no name": ([("{token: secret:places-api", "{¦token: 'secret:'")], ["it is empty"]),
    "nothing to bind": ([("{token: secret", "{¦tocken: secret:x, token: secret")], ["there is no parameter 'tocken' to bind"]),
    "data set": ([("{token: secret", "{¦frames: secret:x, token: secret")], ["'frames' is the data set"]),
    "number": ([("{token", "{¦token"), ("  token: string\n", "  token: int\n"), ("        key: string\n", "        key: int\n")], ["of type int, but a secret is a text"]),
    "default": ([("  token: string\n", "  token: {type: string, ¦default: abc}\n")], ["remove its default"]),
    "required": ([("sluice:bind", "sluice:require: {parameters: {¦token: abc}}\nsluice:bind")], ["'token' is a secret, and services cannot check the values of secrets"]),
    "not said": ([("      hints:\n        cwltool:Secrets: {secrets: [key]}\n", ""), ("        key: string\n", "        ¦key: string\n")], ["add 'cwltool:Secrets: {secrets: [key]}' to its hints"]),
    "said of another": ([("        cwltool:Secrets: {secrets: [key]}", "        ¦cwltool:Secrets: {secrets: [key, run]}")], ["names 'run', whose value is not secret"]),
    "said of the step": ([("    out: [answer]\n", "    hints: {¦cwltool:Secrets: {secrets: [run]}}\n    out: [answer]\n")], ["names 'run', whose value is not secret"]),
    "said of the workflow": ([("requirements:\n  Scatter", "hints: {¦cwltool:Secrets: {secrets: [key]}}\nrequirements:\n  Scatter")], ["names 'key', whose value is not secret"]),
    "command line": ([("        key: string\n", "        key: {type: string, ¦inputBinding: {}}\n")], ["command lines can be read by everyone on the node"]),
    "arguments": ([("      baseCommand: ask\n", '      baseCommand: ask\n      arguments: [¦$(inputs.key)]\n')], ["'$(inputs.key)' uses the secret 'key'"]),
    "argument with a binding": ([("      baseCommand: ask\n", "      baseCommand: ask\n      arguments: [{¦valueFrom: $(inputs.key)}]\n")], ["uses the secret 'key'"]),
    "all inputs": ([("      baseCommand: ask\n", '      baseCommand: ask\n      arguments: [¦$(inputs)]\n')], ["'$(inputs)' uses the secret 'key'"]),
    "JavaScript": ([("      baseCommand: ask\n", '      baseCommand: ask\n      arguments: [¦"${return inputs.key}"]\n')], ["uses the secret 'key'"]),
    "JavaScript over all inputs": ([("      baseCommand: ask\n", '      baseCommand: ask\n      arguments: [¦"${return JSON.stringify(inputs)}"]\n')], ["uses the secret 'key'"]),
    "stdin": ([("      baseCommand: ask\n", "      baseCommand: ask\n      ¦stdin: $(inputs.key)\n")], ["uses the secret 'key'"]),
    "stdout": ([("      baseCommand: ask\n", "      baseCommand: ask\n      ¦stdout: $(inputs.key)\n")], ["uses the secret 'key'"]),
    "glob": ([("answer: stdout", "answer: {type: File, outputBinding: {¦glob: $(inputs.key)}}")], ["uses the secret 'key'"]),
    "output": ([("answer: stdout", "answer: stdout\n        other: {type: string, outputBinding: {¦outputEval: $(inputs.key)}}")], ["uses the secret 'key'"]),
    "valueFrom of another": ([("        run: string?\n      outputs", "        run: {type: string?, inputBinding: {¦valueFrom: $(inputs.key)}}\n      outputs")], ["uses the secret 'key'"]),
    "JavaScript in a variable": ([('{TOKEN: "Bearer', '{¦TOKEN: "${return inputs.key} Bearer')], ["uses the secret 'key'"]),
    "a part of it in a variable": ([('{TOKEN: "Bearer $(inputs.key)"}', "{¦TOKEN: $(inputs.key.length)}")], ["uses the secret 'key'"]),
    "name of a file": ([("{entryname: key.txt, entry: \"$(inputs['key'])\"}", "{¦entryname: $(inputs.key), entry: a}")], ["uses the secret 'key'"]),
    "files by an expression": ([("          listing:\n            - {entryname: key.txt, entry: \"$(inputs['key'])\"}", '          ¦listing: "${return [{class: \'File\', basename: \'a\', contents: inputs.key}]}"')], ["uses the secret 'key'"]),
    "when": ([("    out: [answer]", "    ¦when: $(inputs.key != null)\n    out: [answer]")], ["an expression of step 'ask' uses the secret 'key'"]),
    "valueFrom of the step": ([("      run: run\n", "      run: {source: run, ¦valueFrom: $(inputs.key)}\n")], ["an expression of step 'ask' uses the secret 'key'"]),
    "valueFrom": ([("      key: token\n", "      key: {source: token, ¦valueFrom: $(self)}\n")], ["input 'key' of step 'ask' is a secret, which must be passed on unchanged"]),
    "several sources in a nested workflow": ([(TOOL, NESTED), ("token: key", "token: {source: [key, run], ¦pickValue: first_non_null}")], ["input 'token' of step 'inner' is a secret, which must be passed on unchanged"]),
    "in a nested workflow": ([(TOOL, NESTED), ("baseCommand: ask\n", "baseCommand: ask\n            arguments: [¦$(inputs.token)]\n")], ["'$(inputs.token)' uses the secret 'token'"]),
    "not said in a nested workflow": ([(TOOL, NESTED), ("            hints: {cwltool:Secrets: {secrets: [token]}}\n", ""), ("token: string}\n", "¦token: string}\n")], ["add 'cwltool:Secrets: {secrets: [token]}'"]),
    "valueFrom in a nested workflow": ([(TOOL, NESTED), ("token: key", "token: {source: key, ¦valueFrom: $(self)}")], ["input 'token' of step 'inner' is a secret"]),
    "output of a nested workflow": ([(TOOL, NESTED), ("      outputs: {answer: ", "      outputs: {¦same: {type: string, outputSource: key}, answer: ")], ["output 'same' is the secret 'key'"]),
    "expression tool": ([(TOOL, "    ¦run: {class: ExpressionTool, inputs: {frame: File, key: string, run: string?}, outputs: {answer: File}, expression: '${return {answer: inputs.frame}}'}\n")], ["does not run a CommandLineTool"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_use_of_a_secret_outside_allowed_places_is_refused_with_its_place(case: str) -> None:
    edits, messages = CASES[case]
    text, places = remove_marks(edit_text(*edits, text=TEMPLATE))
    compiled = compile_template(text, name="places")
    assert compiled.plan is None
    error_places = [(error.line, error.column) for error in compiled.errors]
    assert error_places == places, "\n".join(map(str, compiled.errors))
    for error, part in zip(compiled.errors, messages, strict=True):
        assert part in error.message
