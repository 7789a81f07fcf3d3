/**
 * Settings of conversations. Most conversations of a process have equal settings, and an evicted one should cost little more
 * than its id: what is equal to the settings that were given before is kept once, and with it what a model client derives
 * from them. Never changes a value.
 */
import * as Equal from "effect/Equal"
import type { ConversationSettings } from "../ConversationSettings.ts"

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

/** `last` itself where everything is equal. */
const sharedWith = (
  last: ConversationSettings,
  settings: ConversationSettings,
): ConversationSettings => {
  const before = new Map<string, unknown>(Object.entries(last))
  const members = Object.entries(settings).map(([name, value]): readonly [string, unknown] => {
    const other = before.get(name)
    return [name, Equal.equals(other, value) ? other : value]
  })
  const isSame =
    members.length === before.size && members.every(([name, value]) => before.get(name) === value)
  // The names and the types of the values are those of `settings`.
  return isSame ? last : { ...settings, ...Object.fromEntries(members) }
}
