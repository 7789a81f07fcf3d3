/**
 * From the text of a message to a value: all digits of the integers that name requests are kept, and the memory that the
 * value may take is bounded. Knows no member of JSON-RPC but those that name a request.
 *
 * Every function is total except `parseJson`, which throws what `JSON.parse` throws.
 */

/** An integer beyond the safe range, kept as the digits that were sent; `JSON.stringify` writes them back. */
export interface RawInteger {
  readonly rawJSON: string
}

interface RawJson {
  readonly rawJSON: (text: string) => RawInteger
  readonly isRawJSON: (u: unknown) => u is RawInteger
}
const rawJson = JSON as unknown as RawJson

export const rawInteger = rawJson.rawJSON
export const isRawInteger = rawJson.isRawJSON

export const isObject = (u: unknown): u is Record<string, unknown> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** Digits that a double may have to round. */
const longInteger = /\d{16}/
const digits = /^-?\d+$/

interface Context {
  readonly source?: string
}

/** The `_meta` of a message's params: where MCP names the token of a request's progress. */
const metaOf = (root: unknown): unknown => {
  const params = isObject(root) ? root["params"] : undefined
  return isObject(params) ? params["_meta"] : undefined
}

/**
 * `JSON.parse` that keeps all digits where a request is named: in the envelope's own `id`, in any `requestId`, and in
 * `params._meta.progressToken`. Everywhere else integers are rounded as usual.
 */
const parseExact = (text: string): unknown => {
  const ids: Array<readonly [holder: unknown, key: string, id: RawInteger]> = []
  const root: unknown = JSON.parse(text, function (this: unknown, key, value, context?: Context) {
    const source = context?.source ?? ""
    if (typeof value !== "number" || Number.isSafeInteger(value) || !digits.test(source)) {
      return value
    }
    if (key === "requestId") return rawInteger(source)
    // Which `id` is the envelope's own is known when the envelope is.
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

export const parseJson = (text: string): unknown =>
  longInteger.test(text) ? parseExact(text) : JSON.parse(text)

/**
 * Values of one message. A parsed value takes up to some 100 bytes, whatever its text takes: without a limit, 64 MiB of
 * `[[],[],…` are 1 GiB.
 */
export const maxValues = 1_000_000

/** A text that is too short to hold `maxValues`: each takes two characters at least. */
const maxUncountedLength = 2 * maxValues

const quote = 0x22
const backslash = 0x5c
/** Each value but the first of a text follows one of these. */
const separators = new Set([",", ":", "[", "{"].map((one) => one.charCodeAt(0)))

/** The index after the string that begins before `start`; the length of the text where it does not end. */
const endOfString = (text: string, start: number): number => {
  for (let close = start; ; close++) {
    close = text.indexOf('"', close)
    if (close === -1) return text.length
    let at = close
    while (text.charCodeAt(at - 1) === backslash) at--
    if ((close - at) % 2 === 0) return close + 1
  }
}

/** Whether a text has more values than a message may have; counts member names too. */
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

/** Real messages nest a few levels; code that reads them later may recurse once per level. */
export const maxDepth = 256

/** Visits level by level without recursion, so that no depth overflows the stack. */
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
