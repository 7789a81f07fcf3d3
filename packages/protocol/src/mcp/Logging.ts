/** `notifications/message` and `logging/setLevel`: what a server tells of its work, by level. */
import * as Schema from "effect/Schema"
import { notification, request } from "../Method.ts"

/** The levels of syslog (RFC 5424), least severe first. */
export const LoggingLevel = Schema.Literals([
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
])
export type LoggingLevel = typeof LoggingLevel.Type

export const LoggingSetLevel = request("logging/setLevel", {
  params: Schema.Struct({
    level: LoggingLevel,
    _meta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  }),
  result: Schema.Struct({}),
  since: "2024-11-05",
  until: "2026-07-28",
  capability: "logging",
  doc: "The least severe messages of the log that the client wants from now on.",
})

export const LogMessage = notification("notifications/message", {
  params: Schema.Struct({
    level: LoggingLevel,
    logger: Schema.optionalKey(Schema.String),
    data: Schema.Unknown,
    _meta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  }),
  since: "2024-11-05",
  doc: "One line of the server's log, of at least the level that the client asked for.",
})
