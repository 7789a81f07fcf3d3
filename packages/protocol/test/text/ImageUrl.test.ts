import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { ImageUrl } from "../../src/text/ImageUrl.ts"

const accepts = Schema.is(ImageUrl)

describe("the address of an image", () => {
  it("is a data URL of an image in base64, or one of another scheme", () => {
    for (const url of [
      "data:image/png;base64,AA==",
      "DATA:image/svg+xml;base64,QUJD",
      "https://example.org/a.png",
    ]) {
      assert.isTrue(accepts(url), url)
    }
  })

  it("is refused as a data URL without an image in base64", () => {
    for (const url of [
      "data:,",
      "data:image/png,AAAA",
      "data:image/png;base64,",
      "data:image/png;base64,@@@",
      "data:image/png;base64,A=AA",
      "data:text/plain;base64,AAAA",
      "data:nonsense",
    ]) {
      assert.isFalse(accepts(url), url)
    }
  })

  it("is read in linear time", () => {
    assert.isTrue(accepts(`data:image/png;base64,${"A".repeat(20_000_000)}`))
    assert.isFalse(accepts(`data:image/png;base64,${"A".repeat(20_000_000)}@`))
  })
})
