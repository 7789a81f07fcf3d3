/**
 * The tool servers as clients use them without a turn: calls of tools, resources, and what a server offers. Uses the servers
 * that turns use, so that none is started twice. Loads nothing of `effect/ai`.
 */
import {
  type DirectToolServers,
  type ToolServerContents,
  ToolServerFailed,
} from "@colloquy/core/ToolRuntime"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { ToolsCall } from "@colloquy/protocol/mcp/CodexMcp"
import {
  ResourcesList,
  ResourcesRead,
  ResourcesTemplatesList,
} from "@colloquy/protocol/mcp/Resources"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ToolServerError } from "./ToolConnection.ts"
import type { ToolServer } from "./ToolServer.ts"
import { decline, type ToolServers } from "./ToolServers.ts"

/** A server that lists more has a fault, or lists without an end. */
const maxPages = 32
const maxEntries = 10_000

const failed = ({ message }: ToolServerError): ToolServerFailed => new ToolServerFailed({ message })

/** All entries of a list; none of a server that does not have it. */
const listAll = Effect.fnUntraced(function* (
  server: ToolServer,
  method: string,
  member: string,
): Effect.fn.Return<ReadonlyArray<unknown>> {
  const entries: Array<unknown> = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages && entries.length < maxEntries; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const result = yield* Effect.result(server.request(method, params, decline))
    if (Result.isFailure(result)) return entries
    const { [member]: found, nextCursor } = result.success
    if (!Array.isArray(found)) return entries
    entries.push(...found)
    if (typeof nextCursor !== "string" || nextCursor === cursor) return entries
    cursor = nextCursor
  }
  return entries.slice(0, maxEntries)
})

/** What a server offers. */
const contentsOf = Effect.fnUntraced(function* (
  server: ToolServer,
  toolsOnly: boolean,
): Effect.fn.Return<ToolServerContents, ToolServerFailed> {
  const listed = yield* Effect.mapError(server.tools, failed)
  const tools = Object.fromEntries(listed.map((tool) => [tool.name, tool]))
  if (toolsOnly) return { tools, resources: [], resourceTemplates: [] }
  const [resources, resourceTemplates] = yield* Effect.all(
    [
      listAll(server, ResourcesList._tag, "resources"),
      listAll(server, ResourcesTemplatesList._tag, "resourceTemplates"),
    ],
    { concurrency: 2 },
  )
  return { tools, resources, resourceTemplates }
})

type Find = (name: string) => ToolServer | undefined

/** What each of these servers offers. */
const describeAll = (names: ReadonlyArray<string>, find: Find, toolsOnly: boolean) =>
  Effect.forEach(
    names,
    (name) => {
      const server = find(name)
      return server === undefined
        ? Effect.succeed([])
        : Effect.map(Effect.result(contentsOf(server, toolsOnly)), (contents) => [
            [name, contents] as const,
          ])
    },
    { concurrency: 8 },
  ).pipe(Effect.map((found) => Object.fromEntries(found.flat())))

/**
 * @param prepare runs before a server of these settings is used
 */
export const make = (
  servers: ToolServers["Service"],
  prepare: (settings: ConversationSettings) => Effect.Effect<void>,
): DirectToolServers => {
  const using = <A, E>(
    settings: ConversationSettings,
    use: (find: Find) => Effect.Effect<A, E>,
  ): Effect.Effect<A, E> =>
    prepare(settings).pipe(
      Effect.andThen(servers.open(settings.mcpServers ?? {})),
      Effect.flatMap((open) => use(open.server)),
      Effect.scoped,
    )
  const send = (
    settings: ConversationSettings,
    name: string,
    [method, params]: readonly [method: string, params: Readonly<Record<string, unknown>>],
  ) =>
    using(settings, (find) => {
      const server = find(name)
      return server === undefined
        ? Effect.fail(new ToolServerFailed({ message: `unknown MCP server '${name}'` }))
        : Effect.mapError(server.request(method, params, decline), failed)
    })
  return {
    call: (settings, { meta, server, tool, ...given }) =>
      send(settings, server, [
        ToolsCall._tag,
        { name: tool, ...given, ...(meta === undefined ? {} : { _meta: meta }) },
      ]),
    read: (settings, { server, uri }) => send(settings, server, [ResourcesRead._tag, { uri }]),
    describe: (settings, toolsOnly) =>
      using(settings, (find) =>
        describeAll(Object.keys(settings.mcpServers ?? {}), find, toolsOnly),
      ),
  }
}
