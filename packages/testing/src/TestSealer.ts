/**
 * A sealer for tests: the same texts in the same order give the same seals, synchronously, and every change is
 * detected, but without a secret. Never use it for a server that can be reached.
 */
import { Sealer } from "@colloquy/server/Sealer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** FNV-1a, 32 bits, over UTF-16 units. */
const hash = (text: string): string => {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0
  }
  return value.toString(16).padStart(8, "0")
}

const tagOf = (purpose: string, body: string) => `${hash(body + purpose)}${hash(purpose + body)}`

const make = () => {
  let count = 0
  return Sealer.of({
    seal: (purpose, text) =>
      Effect.sync(() => {
        const body = `${++count}:${encodeURIComponent(text)}`
        return `${body}.${tagOf(purpose, body)}`
      }),
    open: (purpose, sealed) =>
      Effect.sync(() => {
        const end = sealed.lastIndexOf(".")
        const body = sealed.slice(0, end)
        return end >= 0 && sealed.slice(end + 1) === tagOf(purpose, body)
          ? decodeURIComponent(body.slice(body.indexOf(":") + 1))
          : undefined
      }),
  })
}

/** Provides the sealer. */
export const layer: Layer.Layer<Sealer> = Layer.sync(Sealer, make)
