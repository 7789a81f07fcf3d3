/** `resources/list`: lists the single resources, then those that each template lists, one page per request. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { ResourcesList as ResourcesListMethod } from "@colloquy/protocol/mcp/Resources"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import { toClientError } from "../../features/Outcome.ts"
import type { Listed } from "../../features/Resource.ts"
import { entriesFrom } from "../../features/Registry.ts"
import type { Place } from "../catalog/Cursors.ts"
import type { CoreHandler, InputRequired, RequestContext } from "../RequestContext.ts"
import { pageOf, type ConnectionCatalog, describe } from "../catalog/ConnectionCatalog.ts"

type Method = typeof ResourcesListMethod

const list = "resources"

const item = (resource: Listed) =>
  describe(resource, [
    "uri",
    "name",
    "title",
    "description",
    "mimeType",
    "size",
    "icons",
    "annotations",
  ])

/** Largest number of template pages read for one page of the response. A bound, because they may be short or empty. */
const maxPages = 16

interface Found {
  readonly resources: Array<Listed>
  /** Where the next page begins; absent on the last page. */
  next?: Place
}

/** Adds the resources that the templates list. Starts at the template `start.number`, at `start.cursor` of its list. */
const ofTemplates = Effect.fnUntraced(function* (
  { catalog }: ConnectionCatalog,
  found: Found,
  start: { readonly number: number; readonly cursor: string | undefined },
  limit: number,
  context: RequestContext,
): Effect.fn.Return<void, JsonRpcError | InputRequired> {
  let { cursor } = start
  let pages = 0
  for (const { number, value } of entriesFrom(catalog.templates, start.number)) {
    // The cursor belongs to a template that has been removed.
    if (number !== start.number) cursor = undefined
    while (value.list !== undefined) {
      const room = limit - found.resources.length
      if (room === 0 || ++pages > maxPages) {
        found.next = ["templates", number, ...(cursor === undefined ? [] : [cursor])]
        return
      }
      const request = { limit: room, context, ...(cursor === undefined ? {} : { cursor }) }
      const page = yield* Effect.catch(value.list(request), toClientError(`list of ${value.name}`))
      found.resources.push(...page.resources.slice(0, room))
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
  }
})

/** The handler of `resources/list` of one connection. */
export const resourcesList = (
  served: ConnectionCatalog,
): CoreHandler<Params<Method>, ResultOf<Method>> =>
  Effect.fnUntraced(function* ({ cursor }, context) {
    const { catalog, cursors, pageSize } = served
    const [where = "resources", number = 0, inner] =
      (yield* cursors.open(list, cursor, context)) ?? []
    const found: Found = { resources: [] }
    let start = { number: Number(number), cursor: inner === undefined ? undefined : String(inner) }
    if (where === "resources") {
      const { items, next } = pageOf(catalog.resources, start.number, pageSize)
      found.resources.push(...items)
      if (next !== undefined) found.next = ["resources", next]
      start = { number: 0, cursor: undefined }
    }
    if (found.next === undefined) yield* ofTemplates(served, found, start, pageSize, context)
    const resources = found.resources.map(item)
    if (found.next === undefined) return { resources }
    return { resources, nextCursor: yield* cursors.seal(list, found.next, context) }
  })
