import { assert, describe, it } from "@effect/vitest"
import { inLoginShell } from "../../src/shell/LoginShell.ts"

const env = { SHELL: "/bin/zsh", HOME: "/home/u v" }

describe("LoginShell", () => {
  it("quotes the words of a command for the person's shell", () => {
    assert.deepStrictEqual(inLoginShell(["echo", "it's", "$HOME", "-n"], env), [
      "/bin/zsh",
      "-lc",
      "[ -r '/home/u v/.zshrc' ] && . '/home/u v/.zshrc'; (echo 'it'\\''s' '$HOME' -n\n)",
    ])
  })

  it("passes the script of `bash -lc` unchanged", () => {
    assert.deepStrictEqual(
      inLoginShell(["bash", "-lc", "ls | wc # all"], { SHELL: "/usr/bin/bash", HOME: "/root" }),
      ["/usr/bin/bash", "-lc", "[ -r /root/.bashrc ] && . /root/.bashrc; (ls | wc # all\n)"],
    )
  })

  it.each([{}, { SHELL: "/usr/bin/fish", HOME: "/root" }, { SHELL: "bash", HOME: "/root" }])(
    "leaves the command unchanged with %j",
    (other) => {
      assert.deepStrictEqual(inLoginShell(["ls"], other), ["ls"])
    },
  )
})
