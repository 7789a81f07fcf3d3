import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { parse } from "../../src/features/UriTemplate.ts"

const match = (template: string, uri: string) => Result.getOrThrow(parse(template)).match(uri)

describe("UriTemplate", () => {
  it.each<readonly [template: string, uri: string, params: unknown]>([
    ["x:{a}", "x:1", { a: "1" }],
    ["x:{a}", "x:", undefined],
    ["x:{a}", "x:1/2", undefined],
    ["x:{a}", "x:1?q", undefined],
    ["x:{a}", "y:1", undefined],
    ["x:{a}", "xx:1", undefined],
    ["x:{a}", "x:a%2Fb%20c", { a: "a/b c" }],
    ["x:{a}", "x:%", undefined],
    ["x:{a}", "x:%ff", undefined],
    ["x:{+a}", "x:1/2?q", { a: "1/2?q" }],
    ["x://{a}/{b}.md", "x://1/2.md", { a: "1", b: "2" }],
    ["x://{a}/{b}.md", "x://1/2xmd", undefined],
    ["x:{+a}/{b}", "x:1/2/3", { a: "1/2", b: "3" }],
    ["x:{a}/{+b}/{c}", "x:1/2/3/4", { a: "1", b: "2/3", c: "4" }],
    ["x:{a}/{+b}/{c}", "x:1/2", undefined],
    ["x:{a}-{b}", "x:1-2-3", { a: "1", b: "2-3" }],
    ["x:{a}-{b}", "x:-1", undefined],
    ["x:{a}/z", "x:1/z/z", undefined],
    ["x:{+a}/z", "x:1/z/z", { a: "1/z" }],
    ["x:a{b}a", "x:a", undefined],
    ["x:(.*)/{a}", "x:(.*)/1", { a: "1" }],
    ["x:{a}", `x:${"a".repeat(9000)}`, undefined],
  ])("returns the variables of an address that matches, %#", (template, uri, params) => {
    const found = match(template, uri)
    assert.deepStrictEqual(found, params)
  })

  it("L13 a hostile address takes no longer than another", () => {
    const names = Array.from({ length: 16 }, (_, i) => (i === 7 ? "{+v7}" : `{v${i}}`))
    const template = Result.getOrThrow(parse(`x:${names.join("-")}!`))
    for (let i = 0; i < 1000; i++) {
      assert.isUndefined(template.match(`x:${"-".repeat(8000)}`))
      assert.isUndefined(template.match(`x:${"a-".repeat(4000)}!`.replace("a-a", "a/-a")))
    }
  })

  it("accepts one variable for any text at any position", () => {
    assert.deepStrictEqual(parse("x:{+a}/{+b}"), Result.fail("more than one `{+name}`"))
  })
})
