import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Args from "../../src/args/Args.ts"
import * as Options from "../../src/args/Options.ts"
import { serverDescriptors } from "../../src/terminal/completions/ServerDescriptors.ts"

const values: Readonly<Record<string, string>> = {
  "--config": "a=b",
  "--cluster": "postgres://user@host/database",
  "--cluster-listen": "127.0.0.1:1",
  "--cluster-address": "127.0.0.1:1",
  "--listen": "",
  "--sandbox": "read-only",
  "--ask-for-approval": "never",
}
const listens: Readonly<Record<string, string>> = {
  "app-server": "ws://127.0.0.1:1",
}

/** True where the program takes the option with the command. */
const takes = (name: string, { long, value }: Options.Option): boolean => {
  const address = listens[name] ?? "http://127.0.0.1:1"
  const given = long === "--listen" ? address : (values[long] ?? "word")
  const dialect = name.startsWith("generate-") ? ["app-server"] : []
  return Result.isSuccess(
    Args.parse([name, ...dialect, long, ...(value === undefined ? [] : [given])]),
  )
}

describe("the completions of servers", () => {
  it("offer the commands that exist, with the options that they take", () => {
    const global = new Set(["--help", "--version"])
    for (const { flags, name } of serverDescriptors) {
      if (name === "help") continue
      assert.sameMembers(
        flags.map((flag) => `--${flag.name}`),
        Options.options
          .filter((option) => !global.has(option.long) && takes(name, option))
          .map(({ long }) => long),
        name,
      )
    }
  })

  it("lack no command of the program", () => {
    const unknown = Args.parse(["nothing-like-it"])
    assert.isTrue(Result.isFailure(unknown))
    for (const name of [
      "mcp",
      "mcp-server",
      "app-server",
      "serve",
      "demo",
      "config",
      "doctor",
      "help",
    ]) {
      assert.isTrue(
        serverDescriptors.some((one) => one.name === name),
        name,
      )
    }
  })
})
