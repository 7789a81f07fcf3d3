/** A recording of what was exchanged with a model provider: plain JSON, to be kept beside a test. */
import * as Schema from "effect/Schema"

const Request = Schema.Struct({
  method: Schema.String,
  /** Without user, query and fragment. */
  url: Schema.String,
  body: Schema.Unknown,
})

const Response = Schema.Struct({
  status: Schema.Int,
  headers: Schema.Record(Schema.String, Schema.String),
  /** Its text, divided at line ends, so that two recordings can be compared line by line. */
  lines: Schema.Array(Schema.String),
  /** `broken`: the connection broke after these lines; `cancelled`: the client closed it. */
  end: Schema.Literals(["complete", "broken", "cancelled"]),
})

/** One request and its response, or why there was none. */
const Exchange = Schema.Struct({
  request: Request,
  response: Schema.Union([Response, Schema.Struct({ failure: Schema.String })]),
})

/** What was exchanged, in the order of the requests. */
export const Recording = Schema.Struct({
  version: Schema.Literal(1),
  exchanges: Schema.Array(Exchange),
})
/** A decoded `Recording`. */
export type Recording = typeof Recording.Type

/** One request and its response. */
export type Exchange = typeof Exchange.Type
