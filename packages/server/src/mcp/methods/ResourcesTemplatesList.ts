/** `resources/templates/list`: lists the templates of resources, one page per request. */
import type { ResourcesTemplatesList as ResourcesTemplatesListMethod } from "@colloquy/protocol/mcp/Resources"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { CoreHandler } from "../RequestContext.ts"
import { pageOf, type ConnectionCatalog, describe } from "../catalog/ConnectionCatalog.ts"

type Method = typeof ResourcesTemplatesListMethod

const list = "resources/templates"

/** The handler of `resources/templates/list` of one connection. */
export const resourcesTemplatesList = ({
  catalog,
  cursors,
  pageSize,
}: ConnectionCatalog): CoreHandler<Params<Method>, ResultOf<Method>> =>
  Effect.fnUntraced(function* ({ cursor }, context) {
    const [start = 0] = (yield* cursors.open(list, cursor, context)) ?? []
    const { items, next } = pageOf(catalog.templates, Number(start), pageSize)
    const resourceTemplates = items.map((template) =>
      describe(template, [
        "uriTemplate",
        "name",
        "title",
        "description",
        "mimeType",
        "icons",
        "annotations",
      ]),
    )
    if (next === undefined) return { resourceTemplates }
    return { resourceTemplates, nextCursor: yield* cursors.seal(list, [next], context) }
  })
