/**
 * Settings of conversations. Most conversations of a process have equal settings, and an evicted one should cost little more
 * than its id: what is equal to the settings that were given before is kept once, and with it what a model client derives
 * from them. Never changes a value.
 */
import * as Equal from "effect/Equal"
import type { ConversationSettings } from "../../ConversationSettings.ts"

/** Shares equal settings. Remembers those of one conversation. */
export class SharedSettings {
  private last: ConversationSettings | undefined

  /** Settings equal to these, with the members of earlier ones where they are equal. */
  share(settings: ConversationSettings): ConversationSettings {
    const { last } = this
    const shared = last === undefined ? settings : sharedWith(last, settings)
    this.last = shared
    return shared
  }
}

type Members = Readonly<Record<string, unknown>>

/** True for plain objects and for arrays. */
const isMembers = (value: unknown): value is Members => {
  if (typeof value !== "object" || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype
}

/**
 * True for equal values. Compares objects and arrays by their members: `Equal.equals` hashes both first, which costs ten times as much
 * where a value is compared once.
 */
const isSame = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (!isMembers(one) || !isMembers(other)) return Equal.equals(one, other)
  const names = Object.keys(one)
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}

/** `last` itself where everything is equal. */
const sharedWith = (
  last: ConversationSettings,
  settings: ConversationSettings,
): ConversationSettings => {
  if (isSame(last, settings)) return last
  const before = new Map<string, unknown>(Object.entries(last))
  const members = Object.entries(settings).map(([name, value]): readonly [string, unknown] => {
    const other = before.get(name)
    return [name, isSame(other, value) ? other : value]
  })
  // The names and the types of the values are those of `settings`.
  return { ...settings, ...Object.fromEntries(members) }
}
