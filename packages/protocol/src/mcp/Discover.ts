/** `server/discover`: how a client learns what a server speaks and does without a handshake. */
import * as Schema from "effect/Schema"
import { request } from "../Method.ts"

const Open = Schema.Record(Schema.String, Schema.Unknown)

export const Discover = request("server/discover", {
  params: Schema.Struct({ _meta: Schema.optionalKey(Open) }),
  result: Schema.Struct({
    supportedVersions: Schema.Array(Schema.String),
    capabilities: Open,
    instructions: Schema.optionalKey(Schema.String),
    _meta: Schema.optionalKey(Open),
  }),
  since: "2026-07-28",
  // What a server does never changes while it runs.
  cache: { ttlMs: 3_600_000, scope: "public" },
  doc: "The revisions and capabilities of the server; answered at any time.",
})
