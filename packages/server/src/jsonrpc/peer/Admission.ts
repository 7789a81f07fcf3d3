/**
 * Decides whether a further request may run: bounds how many are in flight, how long they are together, and how many
 * responses wait for a slow reader (L6).
 */
import { ErrorCode, type JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { InFlight } from "../InFlight.ts"
import { rpcError } from "../PeerErrors.ts"
import type { PeerOptions } from "../PeerOptions.ts"

type Bounds = Pick<PeerOptions<Rpc.Any>, "maxInFlight" | "maxInFlightChars" | "overloaded">

/** More requests than a client has in flight at once, and few enough that their state stays small. */
export const defaultMaxInFlight = 1024

/** See the header. */
export class Admission {
  private readonly inFlight: InFlight
  private readonly max: number
  private readonly maxChars: number
  private readonly overloaded: (fault: string) => JsonRpcError
  private chars = 0

  constructor(inFlight: InFlight, options: Bounds) {
    this.inFlight = inFlight
    this.max = options.maxInFlight ?? defaultMaxInFlight
    this.maxChars = options.maxInFlightChars ?? 64 * 1024 * 1024
    this.overloaded = options.overloaded ?? ((fault) => rpcError(ErrorCode.serverError, fault))
  }

  /** The error of a request that must not run now; undefined when it may. */
  fault(): JsonRpcError | undefined {
    const limit =
      this.inFlight.running >= this.max
        ? `${this.max} requests`
        : this.chars >= this.maxChars
          ? `${this.maxChars} characters of requests`
          : undefined
    return limit === undefined ? undefined : this.overloaded(`more than ${limit} in flight`)
  }

  /** Resolves when a response may be added to those that wait for the reader; undefined when it may be now. */
  room(): Effect.Effect<void> | undefined {
    return this.inFlight.hasRoom(this.max) ? undefined : this.inFlight.room(this.max)
  }

  /** Counts a request that begins, by the UTF-16 units of its text. */
  begin(chars: number): void {
    this.chars += chars
  }

  /** Removes a request that has ended from the count. */
  end(chars: number): void {
    this.chars -= chars
  }
}
