/**
 * Parses the text of a message: integers that name requests keep all their digits, and the memory of the value is bounded.
 * Knows only those members of JSON-RPC and MCP that name a request.
 *
 * No function throws except `parseJson`, which throws what `JSON.parse` throws.
 */

/** An integer beyond the safe range as the digits that were sent. `JSON.stringify` writes the same digits. */
export interface RawInteger {
  readonly rawJSON: string
}

interface RawJson {
  readonly rawJSON: (text: string) => RawInteger
  readonly isRawJSON: (u: unknown) => u is RawInteger
}
const rawJson = JSON as unknown as RawJson

/** An integer from its digits. */
export const rawInteger = rawJson.rawJSON
/** True for an integer that is kept as digits. */
export const isRawInteger = rawJson.isRawJSON

/** True for an object that is no array. */
export const isObject = (u: unknown): u is Record<string, unknown> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** Digits that a double may not be able to represent. */
const longInteger = /\d{16}/
const digits = /^-?\d+$/

interface Context {
  readonly source?: string
}

/** The `_meta` of a message's params, which contains the progress token in MCP. */
const metaOf = (root: unknown): unknown => {
  const params = isObject(root) ? root["params"] : undefined
  return isObject(params) ? params["_meta"] : undefined
}

/**
 * `JSON.parse` that keeps all digits of the envelope's `id`, of every `requestId` and of `params._meta.progressToken`. Other
 * integers are rounded as usual.
 */
const parseExact = (text: string): unknown => {
  const ids: Array<readonly [holder: unknown, key: string, id: RawInteger]> = []
  const root: unknown = JSON.parse(text, function (this: unknown, key, value, context?: Context) {
    const source = context?.source ?? ""
    if (typeof value !== "number" || Number.isSafeInteger(value) || !digits.test(source)) {
      return value
    }
    if (key === "requestId") return rawInteger(source)
    // Whether an `id` is the envelope's own is known when the envelope has been parsed.
    if (key === "id" || key === "progressToken") ids.push([this, key, rawInteger(source)])
    return value
  })
  const envelopes: ReadonlyArray<unknown> = Array.isArray(root) ? root : [root]
  const holders: Readonly<Record<string, ReadonlySet<unknown>>> = {
    id: new Set(envelopes),
    progressToken: new Set(envelopes.map(metaOf)),
  }
  for (const [holder, key, id] of ids) {
    if (holders[key]?.has(holder) === true) Object.assign(holder as object, { [key]: id })
  }
  return root
}

/** Parses a text; throws what `JSON.parse` throws. */
export const parseJson = (text: string): unknown =>
  longInteger.test(text) ? parseExact(text) : JSON.parse(text)

/**
 * Values in one message. A parsed value takes up to about 100 bytes, however short its text is: without a limit, 64 MiB of
 * `[[],[],…` would take 1 GiB.
 */
export const maxValues = 1_000_000

/** UTF-16 code units of a text that cannot have more than `maxValues` values: each takes at least two characters. */
const maxUncountedLength = 2 * maxValues

const quote = 0x22
const backslash = 0x5c
/** Every value of a text except the first follows one of these. */
const separators = new Set([",", ":", "[", "{"].map((one) => one.charCodeAt(0)))

/** The index after the string that contains `start`; the length of the text if the string does not end. */
const endOfString = (text: string, start: number): number => {
  for (let close = start; ; close++) {
    close = text.indexOf('"', close)
    if (close === -1) return text.length
    let at = close
    while (text.charCodeAt(at - 1) === backslash) at--
    if ((close - at) % 2 === 0) return close + 1
  }
}

/** True when a text has more values than a message may have. Member names count as well. */
export const hasTooManyValues = (text: string): boolean => {
  if (text.length <= maxUncountedLength) return false
  let count = 1
  for (let at = 0; at < text.length;) {
    const char = text.charCodeAt(at)
    if (char === quote) {
      at = endOfString(text, at + 1)
      continue
    }
    if (separators.has(char) && ++count > maxValues) return true
    at++
  }
  return false
}

/** Levels of nesting. Real messages have a few; later code may recurse once per level. */
export const maxDepth = 256

/** True when a value nests too deep. Visits level by level without recursion, so that no value overflows the stack. */
export const isTooDeep = (value: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    const next: Array<unknown> = []
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue
      for (const inner of Object.values(one)) {
        if (typeof inner === "object" && inner !== null) next.push(inner)
      }
    }
    level = next
  }
  return false
}
