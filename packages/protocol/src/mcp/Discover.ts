/** `server/discover`: the revisions and capabilities of a server, without a handshake (revision 2026-07-28). */
import * as Schema from "effect/Schema"
import { request } from "../Method.ts"

const Open = Schema.Record(Schema.String, Schema.Unknown)

/** Reports revisions and capabilities. */
export const Discover = request("server/discover", {
  params: Schema.Struct({ _meta: Schema.optionalKey(Open) }),
  result: Schema.Struct({
    supportedVersions: Schema.Array(Schema.String),
    capabilities: Open,
    instructions: Schema.optionalKey(Schema.String),
    _meta: Schema.optionalKey(Open),
  }),
  since: "2026-07-28",
  // The capabilities of a server do not change while it runs.
  cache: { ttlMs: 3_600_000, scope: "public" },
  doc: "Reports the revisions and capabilities of the server. May be sent at any time.",
})
