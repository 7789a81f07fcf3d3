/** The shapes that the params and results of this dialect are made of: camelCase, `null` as good as absent (§3.1). */
import * as Schema from "effect/Schema"
import { parseConversationId } from "../Ids.ts"
import { AskForApproval, SandboxMode } from "../Policy.ts"

/** May be left out, or be `null`, which means the same. */
export const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

type Present<A> = { [K in keyof A]: Exclude<A[K], null> }

/** Without the members that are `null`. */
export const present = <A extends object>(members: A): Present<A> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  ) as Present<A>

/** In any spelling that a UUID has (recording 0.45 `conv_unknown_ids`: anything else is no request). */
export const Uuid = Schema.String.check(
  Schema.makeFilter((text: string) => {
    const parsed = parseConversationId(text)
    return "problem" in parsed ? `expected a UUID: ${parsed.problem}` : undefined
  }),
)

/** At most 32 bits, not negative: the original reads no other number (recording 0.45 `conv_list_resume_archive`). */
export const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff }))

export const Open = Schema.Record(Schema.String, Schema.Unknown)

/** What a client may set of a conversation (§3.3); the last two are ours. */
export const ConversationOverrides = Schema.Struct({
  model: maybe(Schema.String),
  profile: maybe(Schema.String),
  cwd: maybe(Schema.String),
  approvalPolicy: maybe(AskForApproval),
  sandbox: maybe(SandboxMode),
  config: maybe(Open),
  baseInstructions: maybe(Schema.String),
  includePlanTool: maybe(Schema.Boolean),
  includeApplyPatchTool: maybe(Schema.Boolean),
  developerInstructions: maybe(Schema.String),
  compactPrompt: maybe(Schema.String),
})
export type ConversationOverrides = typeof ConversationOverrides.Type
