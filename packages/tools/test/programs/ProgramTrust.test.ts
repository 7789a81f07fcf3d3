import { assert, describe, it } from "@effect/vitest"
import {
  type Candidate,
  refusalOf,
  rootHolding,
  searchOrder,
} from "../../src/programs/ProgramTrust.ts"

const candidate = (facts: Partial<Candidate>): Candidate => ({
  path: "/opt/bin/git",
  realPath: "/opt/bin/git",
  places: ["/opt/bin/git"],
  openPlace: undefined,
  ...facts,
})

describe("ProgramTrust", () => {
  it("L15 searches the directories of the system first, and no entry of PATH that a workspace provides", () => {
    const path = ["", ".", "bin", "/work/node_modules/.bin", "/opt/bin", "/usr/bin", "/opt/bin"]
    const { directories, ignored } = searchOrder(path.join(":"))
    assert.deepStrictEqual(directories, ["/usr/bin", "/bin", "/usr/local/bin", "/opt/bin"])
    assert.deepStrictEqual(
      ignored.map(({ path }) => path),
      ["", ".", "bin", "/work/node_modules/.bin"],
    )
    assert.deepStrictEqual(searchOrder("").ignored, [])
  })

  it("L15 refuses a program in a writable root, by its path, its target or a link on the way", () => {
    const roots = ["/work", "/tmp"]
    assert.isUndefined(refusalOf(candidate({}), roots))
    const planted = candidate({ path: "/work/bin/git", places: ["/work/bin/git", "/usr/bin/git"] })
    assert.deepStrictEqual(refusalOf(planted, roots), {
      path: "/work/bin/git",
      reason: "it lies in /work, where commands can write",
    })
    const target = candidate({ places: ["/opt/bin/git", "/tmp/git"], realPath: "/tmp/git" })
    assert.include(refusalOf(target, roots)?.reason, "leads through /tmp/git")
    const link = candidate({ places: ["/opt/bin/git", "/work/l", "/usr/bin/git"] })
    assert.include(refusalOf(link, roots)?.reason, "leads through /work/l")
  })

  it("L15 refuses a file that every user of the machine can change, and one that is not a program", () => {
    assert.include(
      refusalOf(candidate({ openPlace: "/opt/bin" }), [])?.reason,
      "can change /opt/bin",
    )
    assert.include(refusalOf(candidate({ realPath: undefined }), [])?.reason, "no executable file")
  })

  it("a root contains itself and the paths below it by whole names; the root of the file system contains nothing", () => {
    assert.strictEqual(rootHolding("/usr/bin/git", ["/us", "/usr/bi", "/usr"]), "/usr")
    assert.strictEqual(rootHolding("/usr", ["/usr"]), "/usr")
    assert.isUndefined(rootHolding("/usr/bin/git", ["/"]))
  })
})
