/** Differences of the size and the id of a single message. */
import type { WireMessage } from "../support/Wire.ts"
import { type Difference, only } from "./Difference.ts"
import { added, anyOf, equals, missing } from "./Explain.ts"

const versions = ["0.29.0", "0.153.4"] as const

/** The response to this request is an error with the code -32600 that contains this text, not `{}`. */
const refused = (text: string) =>
  anyOf(
    missing("response", "result", equals({})),
    added("response", "error", (ours) => {
      const { code, message } = ours as NonNullable<WireMessage["error"]>
      return code === -32600 && message.includes(text)
    }),
  )

export const limits: ReadonlyArray<Difference> = [
  {
    key: "line-limit",
    original: "A line can have any length: a request of 64 MiB and more gets its response.",
    colloquy:
      "A line has at most `max_line_bytes` bytes (64 MiB). A longer line is discarded while it is read, and its request gets the error -32600 under its own id, which names the limit and the setting.",
    why: "The memory that a message takes must be bounded. A prompt of 40 MB is accepted; its turn takes about 550 MB.",
    proofs: versions.map((version) => only(version, "limits", "21")),
    explains: refused("67108864"),
  },
  {
    key: "value-limit",
    original: "A message can have any number of values.",
    colloquy:
      "A message has at most 1,000,000 values and member names; the request of a larger one gets the error -32600.",
    why: "A parsed value takes up to a hundred bytes, however short its text is.",
    proofs: versions.map((version) => only(version, "limits", "20")),
    explains: refused("1000000"),
  },
  {
    key: "request-ids",
    original:
      "A request whose id is a number other than an integer of 64 bits is dropped without a response.",
    colloquy:
      "An id is a string, an integer within ±9007199254740991, or a larger integer in digits alone, which is returned digit by digit. A request with another id, such as 1.5 or 9.1e15, gets the error -32600 under that number.",
    why: "A client that gets no response waits for ever.",
    proofs: versions.flatMap((version) => [
      only(version, "limits", "1.5", '"#9100000000000000"', "-0.5", '"#12345678901234567890"'),
      only(version, "malformed", "1.5"),
    ]),
    explains: added("response", "", (ours) => {
      const { error, id, result } = ours as WireMessage
      return id === "#12345678901234567890"
        ? JSON.stringify(result) === "{}"
        : error?.code === -32600 && error.message.includes("`id` must be")
    }),
  },
]
