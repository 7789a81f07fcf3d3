import { assert, describe, it } from "@effect/vitest"
import * as Interception from "../../src/patch/Interception.ts"

const patch = "*** Begin Patch\n*** Delete File: $HOME/`a` \\$b\n*** End Patch"
const heredoc = (word: string): string => `<<${word}\n${patch}\n${word.replaceAll(/['"-]/g, "")}\n`

const is = (directory?: string): Interception.Interception => ({
  _tag: "Patch",
  patch,
  directory,
})
const command: Interception.Interception = { _tag: "Command" }
const implicit: Interception.Interception = { _tag: "Implicit" }

describe("Interception", () => {
  const cases: ReadonlyArray<readonly [argv: ReadonlyArray<string>, Interception.Interception]> = [
    [["apply_patch", patch], is()],
    [["applypatch", patch], is()],
    [["apply_patch", "no patch"], { _tag: "Patch", patch: "no patch", directory: undefined }],
    [["bash", "-lc", `apply_patch ${heredoc("'EOF'")}`], is()],
    [["bash", "-lc", `applypatch ${heredoc("EOF")}`], is()],
    [["bash", "-c", `apply_patch ${heredoc('"PATCH"')}\n\n# done\n`], is()],
    [["/bin/sh", "-lc", `apply_patch ${heredoc("'EOF'")}`], is()],
    [["zsh", "-lc", `  apply_patch ${heredoc("'EOF'")}`], is()],
    [["bash", "-lc", `apply_patch <<'EOF'\n${patch}\n\n\nEOF`], is()],
    [["bash", "-lc", `apply_patch <<-'EOF'\n\t${patch}\n\tEOF`], is()],
    [["bash", "-lc", `cd sub/dir && apply_patch ${heredoc("'EOF'")}`], is("sub/dir")],
    [["bash", "-lc", `cd 'a b' && apply_patch ${heredoc("EOF")}`], is("a b")],
    [["bash", "-lc", `cd "/a b" && applypatch ${heredoc("EOF")}`], is("/a b")],
    [["bash", "-lc", `cd .. && apply_patch ${heredoc("EOF")}`], is("..")],
    // Patch texts without an `apply_patch` command
    [[patch], implicit],
    [["bash", "-lc", patch], implicit],
    [["bash", "-lc", `<<'EOF'\n${patch}\nEOF`], implicit],
    // Ordinary commands
    [[], command],
    [["apply_patch"], command],
    [["apply_patch", patch, "x"], command],
    [["./apply_patch", patch], command],
    [["ls"], command],
    [["python", "-c", patch], command],
    [["bash", "-x", "-c", patch], command],
    [["bash", "-lc"], command],
    ...[
      `ls; apply_patch ${heredoc("EOF")}`,
      `apply_patch ${heredoc("EOF")}ls`,
      `apply_patch <<EOF && ls\n${patch}\nEOF`,
      `apply_patch <<EOF | cat\n${patch}\nEOF`,
      `apply_patch <<EOF > out\n${patch}\nEOF`,
      `apply_patch x ${heredoc("EOF")}`,
      `apply_patch <<EOF &\n${patch}\nEOF`,
      `! apply_patch ${heredoc("EOF")}`,
      `( apply_patch ${heredoc("EOF")})`,
      `A=1 apply_patch ${heredoc("EOF")}`,
      `apply_patch 0${heredoc("EOF")}`,
      `apply_patch <<EOF <<EOF\n${patch}\nEOF\n${patch}\nEOF`,
      `apply_patch <<EOF\n${patch}`,
      `apply_patch <<< '${patch}'`,
      `"apply_patch" ${heredoc("EOF")}`,
      `cat ${heredoc("EOF")} # apply_patch`,
      `cd a; apply_patch ${heredoc("EOF")}`,
      `cd a || apply_patch ${heredoc("EOF")}`,
      `cd a b && apply_patch ${heredoc("EOF")}`,
      `cd && apply_patch ${heredoc("EOF")}`,
      `cd - && apply_patch ${heredoc("EOF")}`,
      `cd ~/a && apply_patch ${heredoc("EOF")}`,
      `cd $A && apply_patch ${heredoc("EOF")}`,
      `cd "$A" && apply_patch ${heredoc("EOF")}`,
      `cd a* && apply_patch ${heredoc("EOF")}`,
      `cd a'b' && apply_patch ${heredoc("EOF")}`,
      `cd a > x && apply_patch ${heredoc("EOF")}`,
      `cd a && cd b && apply_patch ${heredoc("EOF")}`,
      `cd a && apply_patch <<EOF && ls\n${patch}\nEOF`,
      `apply_patch \0${heredoc("EOF")}`,
    ].map((script) => [["bash", "-lc", script], command] as const),
  ]
  for (const [argv, expected] of cases) {
    it(`${expected._tag}: ${JSON.stringify(argv).slice(0, 80)}`, () =>
      assert.deepStrictEqual(Interception.intercept(argv), expected))
  }
})
