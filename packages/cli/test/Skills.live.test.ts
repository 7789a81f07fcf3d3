/** `skills/changed` of the built program, with real files. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { type CliProcess, start } from "./CliProcess.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { directory } from "./support/Home.ts"

beforeAll(buildIfMissing)

const skill = (description: string) =>
  `---\nname: deploy\ndescription: ${description}\n---\nDeploy.\n`

/** Resolves when the program has written this text that many times. */
const times = ({ child }: CliProcess, text: string) => {
  let all = ""
  let look = () => {}
  child.stdout.on("data", (more: string) => {
    all += more
    look()
  })
  return (count: number) =>
    Effect.callback<void>((resume) => {
      look = () => {
        if (all.split(text).length > count) resume(Effect.void)
      }
      look()
    })
}

describe("skills/changed", () => {
  it.live("follows when a skill is created in a new folder, and when it is changed", () =>
    Effect.gen(function* () {
      const cwd = yield* directory()
      const program = yield* start(["app-server"])
      const changes = times(program, "skills/changed")
      const list = (id: number) =>
        program.write({ id, method: "skills/list", params: { cwds: [cwd] } })
      const params = { clientInfo: { name: "test", version: "1" } }
      program.write({ id: 1, method: "initialize", params }, { method: "initialized" })
      list(2)
      yield* program.stdoutHas('"id":2')
      const folder = `${cwd}/.agents/skills/deploy`
      Fs.mkdirSync(folder, { recursive: true })
      Fs.writeFileSync(`${folder}/SKILL.md`, skill("First."))
      yield* changes(1)
      list(3)
      assert.include(yield* program.stdoutHas('"id":3'), "First.")
      Fs.writeFileSync(`${folder}/SKILL.md`, skill("Second."))
      yield* changes(2)
      list(4)
      assert.include(yield* program.stdoutHas('"id":4'), "Second.")
    }),
  )
})
