/**
 * The overrides of `conversationCreate` and `conversationSendMessage`: settings of a new conversation, or of the turn of a
 * message and the turns after it. A setting that a message cannot change is refused by name, never ignored.
 */
import { type ConversationSettings, SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { SettingsOverrides } from "@colloquy/core/ConversationSettings"
import type { State } from "@colloquy/core/decider/State"
import type { Overrides } from "@colloquy/protocol/mcp/ConversationTools"
import type { Op } from "@colloquy/protocol/Op"
import type { InputItem } from "@colloquy/protocol/ResponseItem"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { badSettings, Refused } from "./Results.ts"

/** The names of the arguments, and the settings of the core that they override. */
const names = {
  model: "model",
  cwd: "cwd",
  approval_policy: "approvalPolicy",
  sandbox: "sandbox",
  config: "config",
  profile: "profile",
  base_instructions: "baseInstructions",
} as const satisfies Record<keyof Overrides, keyof SettingsOverrides>

type Name = keyof typeof names

const given = (args: Overrides): ReadonlyArray<Name> =>
  (Object.keys(names) as ReadonlyArray<Name>).filter((name) => args[name] !== undefined)

/** Whether the call overrides any setting. */
export const isOverriding = (args: Overrides): boolean => given(args).length > 0

const overridesOf = (args: Overrides): SettingsOverrides =>
  Object.fromEntries(given(args).map((name) => [names[name], args[name]]))

/** The settings with these overrides. Refused if they are not valid. */
export const resolve = (
  args: Overrides,
  options: Pick<SettingsOverrides, "requiresProvider"> = {},
): Effect.Effect<ConversationSettings, Refused, SettingsResolver> =>
  Effect.flatMap(SettingsResolver, (resolver) =>
    Effect.mapError(resolver.resolve({ ...overridesOf(args), ...options }), ({ message }) =>
      badSettings(message),
    ),
  )

type Field = keyof ConversationSettings

/** The settings that a message can change, and the arguments and keys of `config` that name them. */
const changeable = {
  model: ["model"],
  cwd: ["cwd"],
  approvalPolicy: ["approval_policy"],
  approvalQuestions: ["approval_policy"],
  sandboxPolicy: ["sandbox", "sandbox_mode", "sandbox_workspace_write"],
  effort: ["model_reasoning_effort"],
  summary: ["model_reasoning_summary"],
  baseInstructions: ["base_instructions"],
} as const satisfies Partial<Record<Field, ReadonlyArray<string>>>

type Changeable = keyof typeof changeable

const isChangeable = (field: string): field is Changeable => Object.hasOwn(changeable, field)

/** Settings that follow from the model, or that are only read when the conversation is created. */
const derived: ReadonlySet<string> = new Set(["contextWindow", "includeApplyPatchTool"])

/** The settings that `config` and `profile` change. Refused if a message cannot change one of them. */
const changedByConfig = Effect.fnUntraced(function* ({ config, profile }: Overrides) {
  if (config === undefined && profile === undefined) return []
  const without = yield* resolve({})
  const changed = yield* resolve({
    ...(config === undefined ? {} : { config }),
    ...(profile === undefined ? {} : { profile }),
  })
  const fields = new Set([...Object.keys(without), ...Object.keys(changed)]) as ReadonlySet<Field>
  const different = [...fields].filter((field) => !Equal.equals(without[field], changed[field]))
  const fixed = different.find((field) => !isChangeable(field) && !derived.has(field))
  if (fixed !== undefined) {
    return yield* badSettings(
      `\`${fixed}\` is fixed when a conversation is created; a message can change ${Object.keys(changeable).join(", ")}`,
    )
  }
  return different.filter(isChangeable)
})

/** The context of the turn before this one: of the last waiting turn that has one, or the settings in effect. */
const contextBefore = ({ settings, waiting }: State) => {
  const last = waiting.findLast(({ context }) => context !== undefined)?.context
  return {
    cwd: last?.cwd ?? settings.cwd,
    approval_policy: last?.approval_policy ?? settings.approvalPolicy,
    sandbox_policy: last?.sandbox_policy ?? settings.sandboxPolicy,
    model: last?.model ?? settings.model,
    summary: last?.summary ?? settings.summary,
    ...(last?.approval_questions === undefined
      ? {}
      : { approval_questions: last.approval_questions }),
    ...(last?.effort === undefined ? {} : { effort: last.effort }),
    ...(last?.base_instructions === undefined ? {} : { base_instructions: last.base_instructions }),
  }
}

/** The op that submits `items` with these overrides. */
export const userTurn = Effect.fnUntraced(function* (
  items: ReadonlyArray<InputItem>,
  args: Overrides,
  state: State,
): Effect.fn.Return<Op, Refused, SettingsResolver> {
  const wanted = yield* resolve(args)
  const byConfig: ReadonlySet<string> = new Set(yield* changedByConfig(args))
  const named = new Set([
    ...given(args),
    ...Object.entries(args.config ?? {}).flatMap(([key, value]) =>
      value === null || value === undefined ? [] : [key.split(".")[0] ?? key],
    ),
  ]) as ReadonlySet<string>
  const changes = (field: Changeable) =>
    byConfig.has(field) || changeable[field].some((name) => named.has(name))
  return {
    type: "user_turn",
    items,
    ...contextBefore(state),
    ...(changes("cwd") ? { cwd: wanted.cwd } : {}),
    ...(changes("approvalPolicy") || changes("approvalQuestions")
      ? {
          approval_policy: wanted.approvalPolicy,
          approval_questions: wanted.approvalQuestions ?? null,
        }
      : {}),
    ...(changes("sandboxPolicy") ? { sandbox_policy: wanted.sandboxPolicy } : {}),
    ...(changes("model") ? { model: wanted.model } : {}),
    ...(changes("summary") ? { summary: wanted.summary } : {}),
    ...(changes("effort") ? { effort: wanted.effort ?? null } : {}),
    ...(changes("baseInstructions") && wanted.baseInstructions !== undefined
      ? { base_instructions: wanted.baseInstructions }
      : {}),
  }
})
