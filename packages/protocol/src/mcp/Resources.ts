/** Resources: what clients can read by URI, and the notifications about changes, also those of tools and prompts. */
import * as Schema from "effect/Schema"
import { notification, request } from "../Method.ts"

const Open = Schema.Record(Schema.String, Schema.Unknown)
const Meta = Schema.optionalKey(Open)

/** Parameters of every list: `cursor` is `nextCursor` of an earlier page. */
export const PageParams = Schema.Struct({ cursor: Schema.optionalKey(Schema.String), _meta: Meta })

const nextCursor = Schema.optionalKey(Schema.String)

const described = {
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  mimeType: Schema.optionalKey(Schema.String),
}

/** A resource in a list. Members that later revisions and servers add (icons, annotations, size, `_meta`) are kept. */
export const ResourceItem = Schema.StructWithRest(
  Schema.Struct({ uri: Schema.String, ...described }),
  [Open],
)
/** A decoded `ResourceItem`. */
export type ResourceItem = typeof ResourceItem.Type

/** A resource template in a list. */
export const ResourceTemplateItem = Schema.StructWithRest(
  Schema.Struct({ uriTemplate: Schema.String, ...described }),
  [Open],
)
/** A decoded `ResourceTemplateItem`. */
export type ResourceTemplateItem = typeof ResourceTemplateItem.Type

const contents = {
  uri: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  _meta: Meta,
}

/** The contents of a resource: a text, or bytes in base64. */
const Contents = Schema.Union([
  Schema.Struct({ ...contents, text: Schema.String }),
  Schema.Struct({ ...contents, blob: Schema.String }),
])

/** Lists resources. */
export const ResourcesList = request("resources/list", {
  params: PageParams,
  result: Schema.Struct({ resources: Schema.Array(ResourceItem), nextCursor, _meta: Meta }),
  since: "2024-11-05",
  capability: "resources",
  // The list may change at any time, and may differ between clients.
  cache: { ttlMs: 0, scope: "private" },
  doc: "Lists the resources, in pages.",
})

/** Lists resource templates. */
export const ResourcesTemplatesList = request("resources/templates/list", {
  params: PageParams,
  result: Schema.Struct({
    resourceTemplates: Schema.Array(ResourceTemplateItem),
    nextCursor,
    _meta: Meta,
  }),
  since: "2024-11-05",
  capability: "resources",
  // The list may change at any time, and may differ between clients.
  cache: { ttlMs: 0, scope: "private" },
  doc: "Lists the URI templates of resources, in pages.",
})

/** Reads a resource. */
export const ResourcesRead = request("resources/read", {
  params: Schema.StructWithRest(Schema.Struct({ uri: Schema.String, _meta: Meta }), [Open]),
  result: Schema.Struct({ contents: Schema.Array(Contents), _meta: Meta }),
  since: "2024-11-05",
  capability: "resources",
  cache: { ttlMs: 0, scope: "private" },
  mayAsk: true,
  doc: "Reads the current contents of a resource.",
})

const ByUri = Schema.Struct({ uri: Schema.String, _meta: Meta })

/** Subscribes to a resource. */
export const ResourcesSubscribe = request("resources/subscribe", {
  params: ByUri,
  result: Schema.Struct({}),
  since: "2024-11-05",
  until: "2026-07-28",
  capability: "resources",
  doc: "Subscribes to updates of a resource.",
})

/** Ends a subscription. */
export const ResourcesUnsubscribe = request("resources/unsubscribe", {
  params: ByUri,
  result: Schema.Struct({}),
  since: "2024-11-05",
  until: "2026-07-28",
  capability: "resources",
  doc: "Ends the subscription to a resource.",
})

const NoticeParams = Schema.Struct({ _meta: Meta })

/** The list of resources has changed. */
export const ResourcesListChanged = notification("notifications/resources/list_changed", {
  params: NoticeParams,
  since: "2024-11-05",
  doc: "The lists of resources and templates have changed.",
})

/** A resource has changed. */
export const ResourceUpdated = notification("notifications/resources/updated", {
  params: Schema.Struct({ uri: Schema.String, _meta: Meta }),
  since: "2024-11-05",
  doc: "A resource that the client subscribes to has changed.",
})

/** The list of tools has changed. */
export const ToolsListChanged = notification("notifications/tools/list_changed", {
  params: NoticeParams,
  since: "2024-11-05",
  doc: "The list of tools has changed.",
})

/** The list of prompts has changed. */
export const PromptsListChanged = notification("notifications/prompts/list_changed", {
  params: NoticeParams,
  since: "2024-11-05",
  doc: "The list of prompts has changed.",
})
