/** `notifications/message` and `logging/setLevel`: the server's log, by level. */
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
/** A decoded `LoggingLevel`. */
export type LoggingLevel = typeof LoggingLevel.Type

/** Sets the level of the log. */
export const LoggingSetLevel = request("logging/setLevel", {
  params: Schema.Struct({
    level: LoggingLevel,
    _meta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  }),
  result: Schema.Struct({}),
  since: "2024-11-05",
  until: "2026-07-28",
  capability: "logging",
  doc: "Sets the lowest level of log messages that the client receives.",
})

/** One line of the log. */
export const LogMessage = notification("notifications/message", {
  params: Schema.Struct({
    level: LoggingLevel,
    logger: Schema.optionalKey(Schema.String),
    data: Schema.Unknown,
    _meta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  }),
  since: "2024-11-05",
  doc: "One line of the server's log, of the level that the client set or a more severe one.",
})
