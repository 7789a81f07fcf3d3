import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { imports, read } from "./SourceTree.ts"

const { modules } = read(Fs)

/** The modules that define a tool for the model: `<folder>/<Name>Tool.ts`. */
const definitions = modules.flatMap(({ path, room }) =>
  room === "tools" && /^src\/\w+\/\w+Tool\.ts$/.test(path) ? [path.replace("src/", "./")] : [],
)

describe("ModelTools", () => {
  it("every tool for the model is in the list of Tools.ts", () => {
    assert.isAtLeast(definitions.length, 5)
    const list = modules.find(({ room, path }) => room === "tools" && path === "src/Tools.ts")
    assert.includeMembers([...imports(list?.source ?? "")], definitions)
  })
})
