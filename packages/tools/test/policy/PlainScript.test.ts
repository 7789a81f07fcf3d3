import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { plainCommands, plainWords } from "../../src/policy/PlainScript.ts"
import cases from "../../../core/test/fixtures/shell-cases.json" with { type: "json" }

type Argv = ReadonlyArray<ReadonlyArray<string>>

/** Plain scripts with the words of the commands that they run. */
const plain: ReadonlyArray<readonly [script: string, argv: Argv]> = [
  ["", []],
  [" \n\t\n", []],
  ["# only a comment; rm x", []],
  ["ls", [["ls"]]],
  ["  ls   -l\t-a  ", [["ls", "-l", "-a"]]],
  ["ls;", [["ls"]]],
  ["ls # why\n# more\npwd", [["ls"], ["pwd"]]],
  ["ls && # why\n\n pwd", [["ls"], ["pwd"]]],
  ["ls || pwd | wc -l; id", [["ls"], ["pwd"], ["wc", "-l"], ["id"]]],
  ["ls |\nwc", [["ls"], ["wc"]]],
  ["echo a#b", [["echo", "a#b"]]],
  ["echo a\\\nb", [["echo", "ab"]]],
  ["echo \\\\", [["echo", "\\"]]],
  ["ls \\\n -l", [["ls", "-l"]]],
  ["l''s \"\" ''", [["ls", "", ""]]],
  [`echo "it's" 'say "x"'`, [["echo", "it's", 'say "x"']]],
  [`echo 'a'"b"c\\d`, [["echo", "abcd"]]],
  [`echo "a\\$b\\\`c\\\\d\\e\\"f"`, [["echo", 'a$b`c\\d\\e"f']]],
  ["echo \"two\nlines\" 'two\nlines'", [["echo", "two\nlines", "two\nlines"]]],
  ["echo '$HOME `id` $(id) > < & |'", [["echo", "$HOME `id` $(id) > < & |"]]],
  ["echo \\$HOME \\`id\\` \\> \\& \\; \\|", [["echo", "$HOME", "`id`", ">", "&", ";", "|"]]],
  ['grep "end$" f', [["grep", "end$", "f"]]],
  ["grep -E \"(a$|b$)\" 'c$d'$ e$", [["grep", "-E", "(a$|b$)", "c$d$", "e$"]]],
  ["echo $'a\\tb\\x41\\'c'", [["echo", "a\tbA'c"]]],
  ["find . -ex\\ec rm {} +", [["find", ".", "-exec", "rm", "{}", "+"]]],
  ["echo {a} {a,b", [["echo", "{a}", "{a,b"]]],
  ["echo '{a,b}' \"{a,b}\" \\{a,b}", [["echo", "{a,b}", "{a,b}", "{a,b}"]]],
  ["ls *.ts src/? [a-c]x", [["ls", "*.ts", "src/?", "[a-c]x"]]],
  ["ls ~ ~/x ~root", [["ls", "~", "~/x", "~root"]]],
  ["ls a=b --x=y", [["ls", "a=b", "--x=y"]]],
  ["echo then fi do [ ] ! }", [["echo", "then", "fi", "do", "[", "]", "!", "}"]]],
  ["[ -f a ]", [["[", "-f", "a", "]"]]],
  ["echo naïve 日本 🙂", [["echo", "naïve", "日本", "🙂"]]],
  ["echo a\u00a0b", [["echo", "a\u00a0b"]]],
  ["#!/bin/sh\nls", [["ls"]]],
  ["echo a\r\nls", [["echo", "a\r"], ["ls"]]],
]

/** Scripts that do more than run plain words, or that are not valid scripts. */
const notPlain: ReadonlyArray<string> = [
  // substitution and expansion
  "echo $HOME",
  "echo ${HOME}",
  'echo "${HOME:-x}"',
  "echo a$HOME",
  "echo $1 $@ $? $$ $! $-",
  "echo $(id)",
  'echo "$(id)"',
  "echo `id`",
  'echo "`id`"',
  "echo $((1+1))",
  'echo "$((1+1))"',
  "echo $[1+1]",
  "echo $[1+1",
  'echo $"x"',
  // The shell joins lines before it looks for what `$` begins.
  "echo $\\\nHOME",
  'echo "$\\\nHOME"',
  'echo "$\\\n(rm x)"',
  "echo $\\\n(rm x)",
  'echo "$\\\n{HOME}"',
  "echo $'a\\\nb'",
  "echo {a,\\\nb}",
  "echo {1.\\\n.3}",
  "echo \\\n{a,b}",
  'echo "$[1"',
  "cat <(ls)",
  "tee >(cat)",
  "echo {a,b}",
  "echo {1..3}",
  "echo -{delete,$'x'}",
  'echo "-"{delete,x}',
  "echo {'a',b}",
  "ls ?(x)",
  "ls *(x)",
  "ls +(x|y)",
  "ls @(x)",
  "ls !(x)",
  // redirection
  "ls >a",
  "ls > a",
  "ls >>a",
  "ls >|a",
  "ls &>a",
  "ls &>>a",
  "ls >&a",
  "ls 2>a",
  "ls 2>&1",
  "ls 2>/dev/null",
  "ls <a",
  "ls <>a",
  "ls <&0",
  "ls {fd}>a",
  ">a",
  ">a ls",
  "cat <<<x",
  "cat <<E\nx\nE",
  "cat <<'E'\nx\nE",
  "cat <<-E\n\tx\n\tE",
  // assignments
  "a=1",
  "a=1 ls",
  "a+=1 ls",
  "a[0]=1",
  "export a=1",
  "declare -a x=(1)",
  "alias ls=rm",
  // jobs, pipes, prefixes
  "ls &",
  "ls & pwd",
  "ls && pwd &",
  "ls |& wc",
  "! ls",
  "! ! ls",
  "ls && ! pwd",
  "time ls",
  "time -p ls",
  "time",
  "coproc ls",
  // compound commands
  "(ls)",
  "ls | (cat)",
  "{ ls; }",
  "f() { ls; }",
  "function f { ls; }",
  "f() ls",
  "if ls; then pwd; fi",
  "for i in a b; do ls; done",
  "for ((;;)); do ls; done",
  "while ls; do pwd; done",
  "until ls; do pwd; done",
  "case a in a) ls;; esac",
  "select i in a; do ls; done",
  "[[ a == b ]]",
  "((1))",
  // errors
  "ls (",
  "ls (x",
  "ls (=x",
  "ls =(rm x)",
  "ls a(e:rm:)",
  "ls )",
  "ls |",
  "ls &&",
  "| ls",
  "; ls",
  "ls ;; pwd",
  "ls ; ; pwd",
  "ls || || pwd",
  "echo 'a",
  'echo "a',
  "echo $'a",
  "echo $(ls",
  "echo ${a",
  "if",
  "then ls",
  "}",
  "ls \\",
  "ls a\\\\\\",
  // not text
  "ls \0",
  "ls 'a\0b'",
  `echo ${"a".repeat(1_000_001)}`,
]

describe("PlainScript", () => {
  it("agrees with every recorded verdict", () => {
    for (const { argv, expect, script } of cases) {
      const found = plainCommands(script)
      if (expect === "not-plain") assert.isUndefined(found, script)
      else if (expect === "plain" || found !== undefined) {
        assert.deepStrictEqual(found, argv ?? undefined, script)
      }
    }
    assert.strictEqual(cases.length, 38)
  })

  it("returns the words of plain scripts as the shell would pass them", () => {
    for (const [script, argv] of plain) {
      assert.deepStrictEqual(plainCommands(script), argv, JSON.stringify(script))
    }
  })

  it("returns nothing for a script that does more than its words say", () => {
    for (const script of notPlain) {
      assert.isUndefined(plainCommands(script), JSON.stringify(script.slice(0, 80)))
    }
  })

  it("returns nothing for a plain script followed by anything else", () => {
    const pieces = notPlain.filter((script) => !/^[;|]|\\$/.test(script))
    for (const script of pieces) {
      for (const joined of [`ls; ${script}`, `ls && ${script}`, `ls\n${script}`]) {
        assert.isUndefined(plainCommands(joined), JSON.stringify(joined.slice(0, 80)))
      }
    }
  })

  it("reads the longest hostile script without a delay", () => {
    const many = (text: string, times: number) => text.repeat(times)
    assert.isUndefined(plainCommands(`ls ${many("#", 100_000)}\n(`))
    assert.isUndefined(plainCommands(`ls ${many("(", 20_000)}`))
    assert.isUndefined(plainCommands(`ls ${many("$(", 20_000)}`))
    assert.isUndefined(plainCommands(`ls ${many("{a,", 20_000)}${many("}", 20_000)}`))
    assert.lengthOf(
      plainCommands(many("ls && ", 20_000) + many("\n", 100_000) + "ls") ?? [],
      20_001,
    )
    assert.lengthOf(plainCommands(`ls ${many("[", 50_000)}`) ?? [], 1)
  }, 5_000)

  it("marks the words that are patterns, quoted ones excluded", () => {
    assert.deepStrictEqual(
      plainWords("ls * '*' \"*\" \\* a? [b]")?.[0]?.map(({ isPattern }) => isPattern),
      [false, true, false, false, false, true, true],
    )
  })

  const Word = Schema.Literals(["ls", "a", "'q q'", '"d d"', "-x", "\\;", "a\\ b"])
  const Joint = Schema.Literals([" ", "; ", " && ", " || ", " | ", "\n", " \\\n"])
  const Active = Schema.Literals([
    "$a",
    "${a}",
    "$(ls)",
    "`ls`",
    ">a",
    "<a",
    "2>&1",
    "& ",
    "(ls)",
    "{a,b}",
    "<<<a",
    '"$a"',
    '"`ls`"',
    "$((1))",
  ])
  const Script = Schema.Array(Schema.Struct({ joint: Joint, word: Word })).check(
    Schema.isMaxLength(6),
  )
  const text = (parts: typeof Script.Type) => parts.map(({ joint, word }) => joint + word).join("")

  it.prop("returns words for any sequence of plain words", { parts: Script }, ({ parts }) => {
    const script = `ls${text(parts)}`
    const separators = parts.filter(({ joint }) => joint !== " " && joint !== " \\\n").length
    assert.strictEqual(plainCommands(script)?.length, separators + 1, JSON.stringify(script))
    assert.strictEqual(plainCommands(script)?.flat().length, parts.length + 1)
  })

  it.prop(
    "never returns words where an expansion, a redirection or a job is outside of quotes",
    { before: Script, active: Active, after: Script },
    ({ active, after, before }) => {
      for (const glue of [" ", "", "\n"]) {
        const script = `ls${text(before)}${glue}${active}${text(after)}`
        assert.isUndefined(plainCommands(script), JSON.stringify(script))
      }
    },
  )
})
