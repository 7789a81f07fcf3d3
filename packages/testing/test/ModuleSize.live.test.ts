import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { type Module, read } from "./SourceTree.ts"

const maxLines = 400

/** Lists of schemas, as long as the wire is rich. */
const excepted = ["packages/protocol/src/EventMsg.ts"]

const linesOf = ({ source }: Module) => source.split("\n").length - (source.endsWith("\n") ? 1 : 0)

describe("ModuleSize", () => {
  it(`no module has more than ${maxLines} lines`, () => {
    const all = read(Fs).modules
    assert.isAbove(all.length, 20)
    assert.deepStrictEqual(
      all
        .filter((module) => linesOf(module) > maxLines && !excepted.includes(module.file))
        .map((module) => `${module.file}: ${linesOf(module)} lines`),
      [],
    )
  })
})
