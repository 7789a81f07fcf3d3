import { assert, describe, it } from "@effect/vitest"
import { commandHelp } from "../../src/commands/CommandHelp.ts"
import { help } from "../../src/commands/Help.ts"
import { serverDescriptors } from "../../src/terminal/completions/ServerDescriptors.ts"
import { widthOf } from "../../src/terminal/Width.ts"
import { peopleCommands } from "../../src/args/PeopleCommands.ts"

const fits = (page: string): void => {
  for (const row of page.split("\n")) assert.isAtMost(widthOf(row), 80, row)
}

describe("help", () => {
  it("has at most 80 columns, and every command", () => {
    fits(help)
    for (const { name } of serverDescriptors) {
      if (name !== "mcp-server") assert.match(help, new RegExp(`\\b${name}\\b`))
    }
    for (const name of peopleCommands) assert.match(help, new RegExp(`\\b${name}\\b`))
  })

  it.each(serverDescriptors.filter(({ name }) => name !== "help"))(
    "has a page for $name of at most 80 columns, with its options",
    ({ flags, name }) => {
      const page = commandHelp(name) ?? ""
      assert.include(page, `colloquy ${name} [flags]`)
      for (const flag of flags) assert.include(page, `--${flag.name}`)
      fits(page)
    },
  )
})
