/** Shapes that params and results of this dialect share. Members are camelCase; `null` means the same as absent. */
import * as Schema from "effect/Schema"
import { SystemText } from "../text/SystemText.ts"
import { parseConversationId } from "../Ids.ts"
import { AskForApproval, SandboxMode } from "../Policy.ts"

/** An optional member; `null` means the same as absent. */
export const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

type Present<A> = { [K in keyof A]: Exclude<A[K], null> }

/** The members that are neither absent nor `null`. */
export const present = <A extends object>(members: A): Present<A> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  ) as Present<A>

/** A UUID in any spelling; other texts are invalid params (packages/server/test/fixtures/v0.45.0/conv_unknown_ids.jsonl). */
export const Uuid = Schema.String.check(
  Schema.makeFilter((text: string) => {
    const parsed = parseConversationId(text)
    return "problem" in parsed ? `expected a UUID: ${parsed.problem}` : undefined
  }),
)

/**
 * An unsigned integer of 32 bits: the original accepts no other number
 * (packages/server/test/fixtures/v0.45.0/conv_list_resume_archive.jsonl).
 */
export const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff }))

/** An object whose members are passed through. */
export const Open = Schema.Record(Schema.String, Schema.Unknown)

/** Settings that a client may give for a conversation. The last two are not in the original. */
export const ConversationOverrides = Schema.Struct({
  model: maybe(Schema.String),
  profile: maybe(Schema.String),
  cwd: maybe(SystemText),
  approvalPolicy: maybe(AskForApproval),
  sandbox: maybe(SandboxMode),
  config: maybe(Open),
  baseInstructions: maybe(Schema.String),
  includePlanTool: maybe(Schema.Boolean),
  includeApplyPatchTool: maybe(Schema.Boolean),
  developerInstructions: maybe(Schema.String),
  compactPrompt: maybe(Schema.String),
})
/** A decoded `ConversationOverrides`. */
export type ConversationOverrides = typeof ConversationOverrides.Type
