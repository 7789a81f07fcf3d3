import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { isKnownSafe, shellScript } from "../../src/policy/SafeCommand.ts"

const open = { sandboxedReadOnly: false }
const kept = { sandboxedReadOnly: true }

/** Words without quotes. */
const argv = (text: string): ReadonlyArray<string> => text.split(" ")

const safe: ReadonlyArray<string> = [
  ..."cat cd cut echo expr false grep head id ls nl numfmt paste pwd rev seq stat tac tail tr true".split(
    " ",
  ),
  ..."uname uniq wc which whoami find rg base64".split(" "),
  "cat /etc/passwd",
  "ls -la --color=always /root",
  "/bin/ls -l",
  "/usr/bin/cat a",
  "find . -name *.ts -type f",
  "find / -newer x -print0",
  "rg -n --pretty --pre-glob *.gz foo -- src",
  "rg --no-search-zip foo",
  "sed -n 1p f",
  "sed -n 12,40p dir/f",
  "sed -n 1p",
  "sed -n 1p -",
  "base64 -d f",
  "base64 --decode --wrap=0 f",
  "uniq -c",
  "uniq -c --skip-fields=1 in",
]

const notSafe: ReadonlyArray<string> = [
  "",
  "rm x",
  "touch x",
  "cargo check",
  "git",
  "git status",
  "git log",
  "env ls",
  "sudo ls",
  "xargs cat",
  "tee x",
  "sort -o x y",
  "./ls",
  "/tmp/ls",
  "/usr/local/bin/ls",
  "/bin/../tmp/ls",
  "bin/ls",
  "LS",
  "constructor",
  "__proto__",
  "toString x",
  ...["-exec rm {} +", "-execdir rm {} ;", "-ok rm ;", "-okdir rm ;", "-delete", "-fls x"].map(
    (action) => `find . ${action}`,
  ),
  "find . -fprint x",
  "find . -fprint0 x",
  "find . -fprintf x %p",
  "rg --pre=./x foo",
  "rg --pre ./x foo",
  "rg foo --hostname-bin ./x",
  "rg --hostname-bin=./x foo",
  "rg --search-zip foo",
  "rg -z foo",
  "rg -iz foo",
  "sed -i s/a/b/ f",
  "sed -n 1p -i",
  "sed -n 1p -fscript",
  "sed -n 1p --file=script",
  "sed -n 1p a b",
  "sed -n p f",
  "sed -n 1e f",
  "sed -n 1,p f",
  "sed -n 1p;w f",
  "sed -n $p f",
  "sed 1p f",
  "sed",
  "base64 -o x f",
  "base64 -ox f",
  "base64 -do x",
  "base64 --output=x f",
  "base64 --out x f",
  "uniq in out",
  "uniq - out",
  "uniq -- -in -out",
]

const scripts: ReadonlyArray<readonly [script: string, isSafe: boolean]> = [
  ["ls", true],
  ["cat a && ls | wc -l; pwd || true", true],
  ["cd src && rg -n 'a|b' -g '*.ts' | head -n 5", true],
  ["find . -name '*.ts'", true],
  ["cat *.ts", true],
  ["rg foo src/*.ts", true],
  ["sed -n '1,5p' f", true],
  ["", false],
  ["# nothing", false],
  ["ls; rm x", false],
  ["ls | xargs rm", false],
  ["git status", false],
  ["cargo check", false],
  ["ls > x", false],
  ["ls $(rm x)", false],
  ["ls &", false],
  ["find . -ex\\ec rm {} +", false],
  ["find . -{delete,x}", false],
  ["find . $'-delete'", false],
  ["find . '-del'\"ete\"", false],
  ["bash -c ls", false],
  ["eval ls", false],
  ["ls 'unended", false],
  // A file may be called `-delete`, `--pre=./x` or `-fscript`.
  ["find . *", false],
  ["find . -d*", false],
  ["find . ?delete", false],
  ["find . [-]delete", false],
  ["rg foo *", false],
  ["rg foo -- *.ts", false],
  ["sed -n 1p *", false],
  ["uniq a*", false],
  ["*", false],
  ["l? x", false],
]

describe("SafeCommand", () => {
  it("knows the commands that only read, whatever they read", () => {
    for (const text of safe) {
      assert.isTrue(isKnownSafe(argv(text), open), text)
      assert.isTrue(isKnownSafe(argv(text), kept), text)
    }
  })

  it("accepts nothing else", () => {
    for (const text of notSafe) assert.isFalse(isKnownSafe(argv(text), open), text)
    assert.isFalse(isKnownSafe([], kept))
    assert.isFalse(isKnownSafe(["ls", "a\0b"], kept))
    assert.isFalse(isKnownSafe(["sed", "-n", "1p", ""], kept))
  })

  it("reads a word literally where no shell interprets it", () => {
    assert.isTrue(isKnownSafe(["rg", "foo", "*"], open))
    assert.isTrue(isKnownSafe(["find", ".", "-name", "$(x)"], open))
  })

  it("accepts a shell when every command of its plain script is safe", () => {
    for (const [script, expected] of scripts) {
      for (const shell of ["bash", "zsh", "/bin/bash", "/usr/bin/zsh"]) {
        for (const flag of ["-lc", "-c"]) {
          assert.strictEqual(isKnownSafe([shell, flag, script], open), expected, script)
        }
      }
    }
    assert.isTrue(isKnownSafe(["sh", "-c", "ls; pwd"], open))
  })

  it("knows no other way to start a shell", () => {
    for (const words of [
      ["bash"],
      ["bash", "ls"],
      ["bash", "-lc"],
      ["bash", "-lc", "ls", "pwd"],
      ["bash", "-l", "-c", "ls"],
      ["bash", "-ic", "ls"],
      ["bash", "-cl", "ls"],
      ["./bash", "-lc", "ls"],
      ["/tmp/bash", "-lc", "ls"],
      ["fish", "-c", "ls"],
      ["dash", "-c", "ls"],
    ]) {
      assert.isFalse(isKnownSafe(words, open), words.join(" "))
      assert.isUndefined(shellScript(words))
    }
    assert.deepStrictEqual(shellScript(["/bin/sh", "-c", "x"]), { shell: "sh", script: "x" })
  })

  it("accepts no script that another shell would read differently", () => {
    // A shell without `$'…'` ends the string at the first quote and runs the text that follows.
    const ended = "ls $'a\\'; rm -rf x; #'"
    assert.isTrue(isKnownSafe(["bash", "-c", ended], open))
    assert.isFalse(isKnownSafe(["sh", "-c", ended], open))
    assert.isTrue(isKnownSafe(["bash", "-c", "grep '(' f"], open))
    assert.isFalse(isKnownSafe(["zsh", "-c", "grep '(' f"], open))
  })

  it("git is safe only inside the read-only sandbox, and only where it reads", () => {
    const reads = [
      "git status",
      "git status --short --branch",
      "git log --oneline -n 5 -p",
      "git diff --stat HEAD~1",
      "git diff --no-ext-diff --text",
      "git show HEAD:a",
      "git branch",
      "git branch -a",
      "git branch --show-current",
      "git branch --list feat/*",
      "git branch -vv --sort=-committerdate",
      "/usr/bin/git status",
    ]
    for (const text of reads) {
      assert.isTrue(isKnownSafe(argv(text), kept), text)
      assert.isFalse(isKnownSafe(argv(text), open), text)
    }
    assert.isTrue(isKnownSafe(["bash", "-lc", "git status && ls"], kept))
    assert.isFalse(isKnownSafe(["bash", "-lc", "git status && ls"], open))
    for (const text of [
      "git",
      "git push",
      "git commit -m x",
      "git -c core.fsmonitor=./x status",
      "git --config-env=a=b status",
      "git --exec-path=/tmp status",
      "git --paginate log",
      "git -C / status",
      "git branch new",
      "git branch -D old",
      "git branch -m a b",
      "git branch -u origin/x",
      "git branch --edit-description",
      "git diff --output=x",
      "git diff --outp x",
      "git log --ext-diff",
      "git show --textconv",
      "git log --exec=x",
      "git log --config-env=x",
    ]) {
      assert.isFalse(isKnownSafe(argv(text), kept), text)
    }
  })

  const Text = Schema.Array(
    Schema.Literals(["ls", "find", ".", "-delete", "rm", ";", "|", "&&", "$x", ">", "*", "'", '"']),
  ).check(Schema.isMaxLength(8))

  it.prop("accepts no script with rm, redirections or expansions", { words: Text }, ({ words }) => {
    const script = words.join(" ")
    const unsafeWords: ReadonlyArray<string> = ["rm", ">", "$x"]
    const said = words.some((word) => unsafeWords.includes(word))
    const quotes = words.some((word) => word === "'" || word === '"')
    if (!said || quotes || !isKnownSafe(["bash", "-lc", script], open)) return
    // Of these words only `rm` may occur, and only as an argument of a command that reads.
    assert.isFalse(words.includes(">") || words.includes("$x"), script)
    const joints: ReadonlyArray<string> = [";", "|", "&&"]
    const runs = words.filter((_, i) => i === 0 || joints.includes(words[i - 1] ?? ""))
    assert.isFalse(runs.includes("rm"), script)
  })
})
