/** Resources: what a server lets its clients read by address, and how they hear that it changed. */
import * as Schema from "effect/Schema"
import { notification, request } from "../Method.ts"

const Open = Schema.Record(Schema.String, Schema.Unknown)
const Meta = Schema.optionalKey(Open)

/** Of every list: where an earlier page said that the next begins. */
export const PageParams = Schema.Struct({ cursor: Schema.optionalKey(Schema.String), _meta: Meta })

const nextCursor = Schema.optionalKey(Schema.String)

const described = {
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  mimeType: Schema.optionalKey(Schema.String),
}

/** With what later revisions and servers add: icons, annotations, size, `_meta`. */
export const ResourceItem = Schema.StructWithRest(
  Schema.Struct({ uri: Schema.String, ...described }),
  [Open],
)
export type ResourceItem = typeof ResourceItem.Type

export const ResourceTemplateItem = Schema.StructWithRest(
  Schema.Struct({ uriTemplate: Schema.String, ...described }),
  [Open],
)
export type ResourceTemplateItem = typeof ResourceTemplateItem.Type

const contents = {
  uri: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  _meta: Meta,
}

/** A text, or bytes in base64. */
const Contents = Schema.Union([
  Schema.Struct({ ...contents, text: Schema.String }),
  Schema.Struct({ ...contents, blob: Schema.String }),
])

export const ResourcesList = request("resources/list", {
  params: PageParams,
  result: Schema.Struct({ resources: Schema.Array(ResourceItem), nextCursor, _meta: Meta }),
  since: "2024-11-05",
  capability: "resources",
  // It may change at any time, and may be another for somebody else.
  cache: { ttlMs: 0, scope: "private" },
  doc: "The resources, a page at a time.",
})

export const ResourcesTemplatesList = request("resources/templates/list", {
  params: PageParams,
  result: Schema.Struct({
    resourceTemplates: Schema.Array(ResourceTemplateItem),
    nextCursor,
    _meta: Meta,
  }),
  since: "2024-11-05",
  capability: "resources",
  // It may change at any time, and may be another for somebody else.
  cache: { ttlMs: 0, scope: "private" },
  doc: "The forms of address behind which there may be many resources, a page at a time.",
})

export const ResourcesRead = request("resources/read", {
  params: Schema.StructWithRest(Schema.Struct({ uri: Schema.String, _meta: Meta }), [Open]),
  result: Schema.Struct({ contents: Schema.Array(Contents), _meta: Meta }),
  since: "2024-11-05",
  capability: "resources",
  cache: { ttlMs: 0, scope: "private" },
  mayAsk: true,
  doc: "What a resource holds now.",
})

const ByUri = Schema.Struct({ uri: Schema.String, _meta: Meta })

export const ResourcesSubscribe = request("resources/subscribe", {
  params: ByUri,
  result: Schema.Struct({}),
  since: "2024-11-05",
  until: "2026-07-28",
  capability: "resources",
  doc: "Asks to be told when a resource holds something else.",
})

export const ResourcesUnsubscribe = request("resources/unsubscribe", {
  params: ByUri,
  result: Schema.Struct({}),
  since: "2024-11-05",
  until: "2026-07-28",
  capability: "resources",
  doc: "Asks to be told of that resource no more.",
})

const NoticeParams = Schema.Struct({ _meta: Meta })

export const ResourcesListChanged = notification("notifications/resources/list_changed", {
  params: NoticeParams,
  since: "2024-11-05",
  doc: "There are other resources, or templates, than those listed.",
})

export const ResourceUpdated = notification("notifications/resources/updated", {
  params: Schema.Struct({ uri: Schema.String, _meta: Meta }),
  since: "2024-11-05",
  doc: "A resource that the client subscribes to holds something else.",
})

export const ToolsListChanged = notification("notifications/tools/list_changed", {
  params: NoticeParams,
  since: "2024-11-05",
  doc: "There are other tools than those listed.",
})

export const PromptsListChanged = notification("notifications/prompts/list_changed", {
  params: NoticeParams,
  since: "2024-11-05",
  doc: "There are other prompts than those listed.",
})
