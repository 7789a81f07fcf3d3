import type { ParsedCommand } from "@colloquy/protocol/events/CommandEvents"
import { assert, describe, it } from "@effect/vitest"
import { parsedCommand } from "../../src/policy/ParsedCommand.ts"

const unknown = (cmd: string): ParsedCommand => ({ type: "unknown", cmd })
const read = (cmd: string, name: string): ParsedCommand => ({ type: "read", cmd, name })
const list = (cmd: string, path: string | null = null): ParsedCommand => ({
  type: "list_files",
  cmd,
  path,
})
const search = (cmd: string, query: string | null, path: string | null = null): ParsedCommand => ({
  type: "search",
  cmd,
  query,
  path,
})

type Expected = ReadonlyArray<ParsedCommand>

const bash = (script: string) => ["bash", "-lc", script]

describe("ParsedCommand", () => {
  const recorded: ReadonlyArray<readonly [argv: ReadonlyArray<string>, Expected]> = [
    [["cat", "hello.txt"], [read("cat hello.txt", "hello.txt")]],
    [["echo", "hi"], [unknown("echo hi")]],
    [["ls", "-la"], [list("ls -la")]],
    [["touch", "made.txt"], [unknown("touch made.txt")]],
    [bash("cat hello.txt && ls"), [read("cat hello.txt", "hello.txt"), list("ls")]],
    [bash("echo start; sleep 30"), [unknown("sleep 30")]],
    [bash("echo $$ > pid.txt; sleep 60"), [unknown("echo $$ > pid.txt; sleep 60")]],
    [bash("echo out; echo err >&2; pwd"), [unknown("echo out; echo err >&2; pwd")]],
    [bash("echo partial; echo oops >&2; exit 3"), [unknown("echo partial; echo oops >&2; exit 3")]],
    [["/bin/bash", "-lc", "touch made.txt"], [unknown("touch made.txt")]],
    [["/bin/bash", "-lc", "echo hi"], [unknown("echo hi")]],
  ]

  it("summarises commands as the recordings do", () => {
    for (const [argv, expected] of recorded) {
      assert.deepStrictEqual(parsedCommand(argv), expected, argv.join(" "))
    }
  })

  const scripts: ReadonlyArray<readonly [script: string, Expected]> = [
    ["", [unknown("")]],
    ["cd src && ls", [list("ls", "src")]],
    ["cd packages/core && ls test", [list("ls test", "test")]],
    ["cd packages/core && rg foo", [search("rg foo", "foo", "core")]],
    ["cd packages/core && cat package.json", [read("cat package.json", "package.json")]],
    ["cd x", [unknown("cd x")]],
    ["rg --files | head -n 50", [list("rg --files")]],
    ["rg -n 'a b' src/core || true", [search("rg -n 'a b' src/core", "a b", "core")]],
    ["cat a | wc -l", [read("cat a", "a")]],
    ["nl -ba a.ts | sed -n '1,9p'", [read("nl -ba a.ts", "a.ts")]],
    ["wc -l | sort", [unknown("wc -l | sort")]],
    ["ls && rm x", [unknown("ls && rm x")]],
    ["ls && npm test && cat a", [unknown("ls && npm test && cat a")]],
    ["npm test | tail -n 5", [unknown("npm test")]],
    ["cat a > b", [unknown("cat a > b")]],
    ["cat $(ls)", [unknown("cat $(ls)")]],
  ]

  it("summarises output filters and `cd` as a part of the read, list or search", () => {
    for (const [script, expected] of scripts) {
      assert.deepStrictEqual(parsedCommand(bash(script)), expected, script)
    }
  })

  const commands: ReadonlyArray<readonly [argv: ReadonlyArray<string>, ParsedCommand]> = [
    [["cat", "a", "b"], unknown("cat a b")],
    [["cat"], unknown("cat")],
    [["cat", "--", "-x"], read("cat -- -x", "-x")],
    [["cat", "it's"], read(`cat 'it'\\''s'`, "it's")],
    [["head", "-n", "5", "dir/a.ts"], read("head -n 5 dir/a.ts", "a.ts")],
    [["tail", "-20", "a"], read("tail -20 a", "a")],
    [["sed", "-n", "1,5p", "a"], read("sed -n 1,5p a", "a")],
    [["sed", "-i", "s/a/b/", "a"], unknown("sed -i s/a/b/ a")],
    [["ls", "webview/src"], list("ls webview/src", "webview")],
    [["ls", "src"], list("ls src", "src")],
    [["ls", "-I", "x", "lib"], list("ls -I x lib", "lib")],
    [["tree", "-L", "2"], list("tree -L 2")],
    [["rg", "-e", "-x", "src/a"], search("rg -e -x src/a", "-x", "a")],
    [["rg", "-g", "*.ts", "foo"], search("rg -g '*.ts' foo", "foo")],
    [["rg", "--files", "lib"], list("rg --files lib", "lib")],
    [["grep", "-rn", "foo", "."], search("grep -rn foo .", "foo", ".")],
    [["git", "grep", "foo"], search("git grep foo", "foo")],
    [["git", "ls-files", "lib"], list("git ls-files lib", "lib")],
    [["git", "status"], unknown("git status")],
    [["fd", "foo", "lib"], search("fd foo lib", "foo", "lib")],
    [["fd"], list("fd")],
    [["find", "lib", "-name", "*.ts"], search("find lib -name '*.ts'", "*.ts", "lib")],
    [["find", ".", "-type", "f"], list("find . -type f", ".")],
    [["find", "-name"], list("find -name")],
    [["constructor"], unknown("constructor")],
    [[], unknown("")],
    [["", "a b"], unknown("'' 'a b'")],
  ]

  it("summarises single commands by their names and operands", () => {
    for (const [argv, expected] of commands) {
      assert.deepStrictEqual(parsedCommand(argv), [expected], argv.join(" "))
    }
  })
})
