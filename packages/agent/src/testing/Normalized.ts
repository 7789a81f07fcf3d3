/**
 * Makes values equal in every run, for snapshots: ids, times and durations become placeholders, numbered in the order in
 * which they appear. Equal ids get equal placeholders, so that what belongs together is still seen. Pure.
 */
import * as Duration from "effect/Duration"

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

/** An instant as ISO 8601 text. */
const instant = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})/g

/** Members whose whole value is an id. */
const idMembers = new Set(["call_id", "turn_id", "item_id", "response_id"])

/** Members whose whole value differs from run to run. */
const volatileMembers: ReadonlyMap<string, string> = new Map([
  ["duration", "<duration>"],
  ["duration_ms", "<duration>"],
  ["rollout_path", "<path>"],
  ["atMs", "<time>"],
])

/** The placeholders of one or more values that belong together. */
export class Placeholders {
  private readonly names = new Map<string, string>()
  private readonly counts = new Map<string, number>()
  /** The containers that `replace` is in. */
  private readonly within = new Set<object>()
  private readonly format: (kind: string, count: number) => string

  /** @param format the text of the placeholder for the `count`-th value of this kind */
  constructor(format = (kind: string, count: number) => `<${kind} ${count}>`) {
    this.format = format
  }

  /** The placeholder of a text of this kind. */
  of(kind: string, text: string): string {
    const key = `${kind} ${text}`
    const known = this.names.get(key)
    if (known !== undefined) return known
    const count = (this.counts.get(kind) ?? 0) + 1
    this.counts.set(kind, count)
    const name = this.format(kind, count)
    this.names.set(key, name)
    return name
  }

  /** The value with placeholders. */
  replace(value: unknown): unknown {
    if (typeof value === "string") return this.text(value)
    if (typeof value !== "object" || value === null) return value
    if (value instanceof Date) return this.of("time", String(value.getTime()))
    if (Duration.isDuration(value)) return "<duration>"
    if (this.within.has(value)) return "<cycle>"
    this.within.add(value)
    try {
      return this.container(value)
    } finally {
      this.within.delete(value)
    }
  }

  private container(value: object): unknown {
    if (Array.isArray(value)) return value.map((one) => this.replace(one))
    if (value instanceof Set) return new Set([...value].map((one) => this.replace(one)))
    if (value instanceof Map) {
      return new Map([...value].map(([key, one]) => [this.replace(key), this.replace(one)]))
    }
    const members = Object.entries(value)
    // No error has its message among its entries.
    if (value instanceof Error) members.unshift(["message", value.message])
    return Object.fromEntries(
      members.map(([name, one]) => [this.text(name), this.member(name, one)]),
    )
  }

  private member(name: string, member: unknown): unknown {
    const volatile = volatileMembers.get(name)
    if (volatile !== undefined && member !== undefined) return volatile
    return typeof member === "string" && idMembers.has(name) && member !== ""
      ? this.of(name.replace(/_id$/, ""), member)
      : this.replace(member)
  }

  private text(text: string): string {
    return text
      .replaceAll(uuid, (id) => this.of("id", id.toLowerCase()))
      .replaceAll(instant, (time) => this.of("time", time))
  }
}

/** A value with placeholders: events, requests, results, errors, anything that a snapshot shows. */
export const normalized = <A>(value: A): A => new Placeholders().replace(value) as A
