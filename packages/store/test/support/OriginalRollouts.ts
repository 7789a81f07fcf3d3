/**
 * The documented shape of a rollout line of the original, strict: additional members and values are
 * faults. See `packages/docs/wire/rollout.md`.
 */
import { EventMsg } from "@colloquy/protocol/EventMsg"
import { AskForApproval, ReasoningEffort, ReasoningSummary } from "@colloquy/protocol/Policy"
import { ResponseItem } from "@colloquy/protocol/ResponseItem"
import * as Schema from "effect/Schema"

const timestamp = Schema.String.check(
  Schema.makeFilter((text: string) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? undefined : "expected UTC with ms",
  ),
)

const line = <const T extends string, P extends Schema.Top>(type: T, payload: P) =>
  Schema.Struct({ timestamp, type: Schema.Literal(type), payload })

const SessionMeta = Schema.Struct({
  id: Schema.String,
  timestamp,
  cwd: Schema.String,
  originator: Schema.String,
  cli_version: Schema.String,
  instructions: Schema.NullOr(Schema.String),
  source: Schema.optionalKey(Schema.String),
  git: Schema.optionalKey(
    Schema.Struct({
      commit_hash: Schema.optionalKey(Schema.String),
      branch: Schema.optionalKey(Schema.String),
      repository_url: Schema.optionalKey(Schema.String),
    }),
  ),
})

const TurnContext = Schema.Struct({
  cwd: Schema.String,
  approval_policy: AskForApproval,
  sandbox_policy: Schema.Union([
    Schema.Struct({ mode: Schema.Literals(["danger-full-access", "read-only"]) }),
    Schema.StructWithRest(Schema.Struct({ mode: Schema.Literal("workspace-write") }), [
      Schema.Record(Schema.String, Schema.Unknown),
    ]),
  ]),
  model: Schema.String,
  effort: Schema.optionalKey(ReasoningEffort),
  summary: ReasoningSummary,
})

const persisted = [
  "user_message",
  "agent_message",
  "agent_reasoning",
  "agent_reasoning_raw_content",
  "token_count",
  "entered_review_mode",
  "exited_review_mode",
  "turn_aborted",
]

const Line = Schema.Union([
  line("session_meta", SessionMeta),
  line("response_item", ResponseItem),
  line("turn_context", TurnContext),
  line(
    "event_msg",
    EventMsg.check(
      Schema.makeFilter(({ type }: EventMsg) =>
        persisted.includes(type) ? undefined : "expected a persisted event",
      ),
    ),
  ),
  line("compacted", Schema.Struct({ message: Schema.String })),
])

const decode = Schema.decodeUnknownSync(Line, { onExcessProperty: "error" })

/**
 * Throws at the first line that has neither the documented shape nor a type of this program.
 * Returns the types in order.
 */
export const typesOf = (file: string): ReadonlyArray<string> => {
  if (!file.endsWith("\n")) throw new Error("the last line has no end")
  return file
    .slice(0, -1)
    .split("\n")
    .map((text) => {
      const value = JSON.parse(text)
      const isOurs = typeof value.type === "string" && value.type.startsWith("colloquy_")
      if (!isOurs) decode(value)
      return String(value.type)
    })
}
