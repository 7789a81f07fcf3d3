import { assert, describe, it } from "@effect/vitest"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type ListRequest, resource, resourceTemplate } from "../../../src/features/Resource.ts"
import { allPages, codeOf, stateless, withFeatures } from "../../support/Featuring.ts"

const one = (uri: string) => resource({ uri, name: uri, read: () => Effect.succeed("") })

/** Lists that many, `atOnce` of them at a time. */
const template = (scheme: string, count: number, atOnce: number) =>
  resourceTemplate({
    uriTemplate: `${scheme}:{n}`,
    name: scheme,
    read: () => Effect.succeed(""),
    list: ({ cursor = "0", limit }: ListRequest) =>
      Effect.sync(() => {
        const start = Number(cursor)
        const end = Math.min(count, start + Math.min(limit, atOnce))
        const resources = Array.from({ length: end - start }, (_, i) => ({
          uri: `${scheme}:${start + i}`,
          name: `${start + i}`,
        }))
        return { resources, ...(end < count ? { nextCursor: String(end) } : {}) }
      }),
  })

const range = (scheme: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${scheme}:${i}`)

describe("resources/list", () => {
  it.effect("lists every member of a definition", () =>
    withFeatures(
      {
        resources: [
          resource({
            uri: "file:///a",
            name: "a",
            title: "A",
            description: "The first.",
            mimeType: "text/plain",
            size: 3,
            annotations: { audience: ["user"], priority: 0.5 },
            meta: { "example.com/x": 1 },
            read: () => Effect.succeed("abc"),
          }),
        ],
      },
      (server) =>
        Effect.gen(function* () {
          const { result } = yield* server.ask(1, "resources/list")
          assert.deepStrictEqual(result, {
            resources: [
              {
                uri: "file:///a",
                name: "a",
                title: "A",
                description: "The first.",
                mimeType: "text/plain",
                size: 3,
                annotations: { audience: ["user"], priority: 0.5 },
                _meta: { "example.com/x": 1 },
              },
            ],
          })
          yield* Schema.decodeUnknownEffect(McpSchema.ListResourcesResult)(result)
        }),
    ),
  )

  it.effect.each([1, 2, 3, 7, 100])(
    "returns each once, whatever the size of its pages and of those of the templates: %i",
    (pageSize) =>
      withFeatures(
        {
          resources: ["r:0", "r:1", "r:2"].map(one),
          resourceTemplates: [
            template("a", 5, 2),
            resourceTemplate({
              uriTemplate: "silent:{x}",
              name: "silent",
              read: () => Effect.succeed(""),
            }),
            template("b", 0, 2),
            template("c", 40, 1),
          ],
        },
        (server) =>
          Effect.gen(function* () {
            const { items, sizes } = yield* allPages(server, "resources/list", "resources")
            assert.deepStrictEqual(
              items.map(({ uri }) => uri),
              [...range("r", 3), ...range("a", 5), ...range("c", 40)],
            )
            for (const size of sizes) assert.isAtMost(size, pageSize)
          }),
        { pageSize },
      ),
  )

  it.effect(
    "a template that cannot list is an internal error on the page where its resources begin",
    () =>
      withFeatures(
        {
          resourceTemplates: [
            template("a", 2, 2),
            resourceTemplate({
              uriTemplate: "b:{x}",
              name: "b",
              read: () => Effect.succeed(""),
              list: () => Effect.fail("secret"),
            }),
          ],
        },
        (server) =>
          Effect.gen(function* () {
            const first = yield* server.ask(1, "resources/list")
            assert.lengthOf(first.result?.["resources"] as ReadonlyArray<unknown>, 1)
            const cursor = String(first.result?.["nextCursor"])
            assert.isAbove(cursor.length, 30)
            const second = yield* server.ask(2, "resources/list", { cursor })
            const third = yield* server.ask(3, "resources/list", {
              cursor: second.result?.["nextCursor"],
            })
            assert.deepStrictEqual(third.error, { code: -32603, message: "Internal error" })
            assert.strictEqual(
              codeOf(yield* server.ask(4, "resources/list", stateless({ cursor: `${cursor}x` }))),
              -32602,
            )
          }),
        { pageSize: 1 },
      ),
  )

  it.effect("continues with the next template when one was removed between two pages", () =>
    withFeatures(
      { resourceTemplates: [template("a", 3, 1), template("c", 2, 1)] },
      (server, features) =>
        Effect.gen(function* () {
          const first = yield* server.ask(1, "resources/list")
          yield* features.removeResourceTemplate("a:{n}")
          const cursor = first.result?.["nextCursor"]
          const second = yield* server.ask(2, "resources/list", { cursor })
          assert.deepStrictEqual(second.result?.["resources"], [{ uri: "c:0", name: "0" }])
        }),
      { pageSize: 1 },
    ),
  )
})
