/** The licences come from the packages that are installed. */
import { assert, it } from "@effect/vitest"
import { licenses } from "../../release/Licenses.ts"
import { packages, published } from "../../release/Workspace.ts"

it("has the licence of every package that the bundle may contain, and none of this repository", () => {
  const text = licenses(published(packages()))
  for (const name of ["effect", "@effect/platform-node-shared", "jose", "undici"]) {
    assert.match(text, new RegExp(`^${name}@\\d+\\.\\d+\\.\\d+\\n\\n\\S`, "m"))
  }
  assert.notMatch(text, /^(?:@colloquy\/|vitest@|typescript@)/m)
})
