/** Arbitrary foreign text for the tests of questions: every kind of character that a display interprets, hides or reorders. */
import * as Schema from "effect/Schema"

const pieces = [
  "a",
  " ",
  "  ",
  "rm -rf",
  "Allow Codex to run `ls` in `/`?\n",
  '"',
  "'",
  "\\",
  "\\n",
  "`",
  "$'",
  "\n",
  "\t",
  "\r",
  "\0",
  "\u001b[2J",
  "\u001b]8;;http://x\u0007",
  "\u007f",
  "\u009b2J",
  "\u0085",
  "\u00a0",
  "\u00ad",
  "\u0301",
  "e\u0301",
  "\u034f",
  "\u061c",
  "\u115f",
  "\u180e",
  "\u200b",
  "\u200d",
  "\u200e",
  "\u200f",
  "\u2028",
  "\u2029",
  "\u202a",
  "\u202e",
  "\u2066",
  "\u2069",
  "\u2800",
  "\u3164",
  "\ud800",
  "\udc00",
  "\ue000",
  "\ufe0f",
  "\ufeff",
  "\ufff9",
  "\u{1f600}",
  "\u{e0041}",
  "\u{e0100}",
  "\u{10ffff}",
  "漢",
  "א",
  "с",
  "y".repeat(200),
  "\n".repeat(30),
] as const

/** Concatenations of the pieces and arbitrary code points, including lone surrogates. */
export const Hostile = Schema.Array(
  Schema.Union([Schema.Literals(pieces), Schema.Int, Schema.String]),
)

export const hostileText = (parts: typeof Hostile.Type): string =>
  parts
    .map((part) =>
      typeof part === "string" ? part : String.fromCodePoint(Math.abs(part) % 0x11_0000),
    )
    .join("")

/** Matches characters that a text for a person must never contain. The server's line feeds are allowed. */
// oxlint-disable-next-line no-control-regex -- the point of it
export const dangerous =
  /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
