import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { contractOf } from "../../src/emit/Contract.ts"
import { jsonSchemaDocumentOf } from "../../src/emit/JsonSchemaDocument.ts"
import { markdownOf } from "../../src/emit/Markdown.ts"
import { typeScriptOf } from "../../src/emit/TypeScript.ts"
import { dialect, notification, request } from "../../src/Method.ts"

const Colour = Schema.Literals(["red", "green"]).annotate({ identifier: "Colour" })

const Paint = request("wall/paint", {
  params: Schema.Struct({
    colour: Colour.annotate({ description: "What it shall be | may be." }),
    "coat-count": Schema.optionalKey(Schema.Int),
    spots: Schema.Array(Schema.Struct({ x: Schema.Finite, y: Schema.Finite })),
  }),
  result: Schema.Struct({ litres: Schema.NullOr(Schema.Finite) }),
  since: "1",
  until: "3",
  capability: "paint",
  doc: "Paints a wall.",
})
const Stop = notification("stop", { since: "2", doc: "Stops. */ Really." })
const Dried = notification("wall/dried", {
  params: Schema.Struct({ colour: Colour, extra: Schema.Record(Schema.String, Schema.Int) }),
  since: "1",
  doc: "A wall has dried.",
})

const Painting = dialect({
  name: "painting",
  clientToServer: [Paint, Stop],
  serverToClient: [Dried],
})

describe("emit", () => {
  it("TypeScript: named types once, params and results by method, a table per direction and kind", () => {
    assert.strictEqual(
      typeScriptOf(contractOf(Painting)),
      `// The dialect painting. Generated from its definitions: edit those.

export type Colour = "red" | "green"

/** Paints a wall. */
export type WallPaintParams = {
  readonly colour: Colour
  readonly "coat-count"?: number
  readonly spots: ReadonlyArray<{
    readonly x: number
    readonly y: number
  }>
}

export type WallPaintResult = {
  readonly litres: number | null
}

/** A wall has dried. */
export type WallDriedParams = {
  readonly colour: Colour
  readonly extra: Readonly<Record<string, number>>
}

/** Requests that the client sends, by their names on the wire. */
export interface ClientRequests {
  /** Paints a wall. */
  "wall/paint": { params: WallPaintParams; result: WallPaintResult }
}

/** Notifications that the client sends, by their names on the wire. */
export interface ClientNotifications {
  /** Stops. * / Really. */
  "stop": { params: undefined }
}

/** Requests that the server sends, by their names on the wire. */
export interface ServerRequests {
}

/** Notifications that the server sends, by their names on the wire. */
export interface ServerNotifications {
  /** A wall has dried. */
  "wall/dried": { params: WallDriedParams }
}
`,
    )
  })

  it("JSON Schema: one document in which all references resolve", () => {
    const integer = { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }
    const dried = {
      type: "object",
      properties: {
        colour: { $ref: "#/$defs/Colour" },
        extra: { type: "object", additionalProperties: integer },
      },
      required: ["colour", "extra"],
      additionalProperties: true,
    }
    const { clientToServer, ...rest } = jsonSchemaDocumentOf(contractOf(Painting))
    assert.deepStrictEqual(Object.keys(clientToServer as object), ["wall/paint", "stop"])
    assert.deepStrictEqual<unknown>(rest, {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "painting",
      serverToClient: {
        "wall/dried": {
          kind: "notification",
          description: "A wall has dried.",
          since: "1",
          params: dried,
        },
      },
      $defs: { Colour: { type: "string", enum: ["red", "green"] } },
    })
  })

  it("Markdown: a section per method, a row per member, long types below the table", () => {
    const [head, ...sections] = markdownOf(contractOf(Painting)).split("\n### ")
    assert.strictEqual(
      head,
      "# The dialect `painting`\n\nGenerated from its definitions.\n\n## What the client sends\n",
    )
    assert.strictEqual(
      sections[0],
      `\`wall/paint\`

Request of the client, since 1, until 3, needs the capability \`paint\`. Paints a wall.

Params:

| member | type | required | |
|---|---|---|---|
| \`colour\` | \`Colour\` | yes |  |
| \`coat-count\` | \`number\` | no |  |
| \`spots\` | \`ReadonlyArray<{ readonly x: number; readonly y: number }>\` | yes |  |

Result:

| member | type | required | |
|---|---|---|---|
| \`litres\` | \`number \\| null\` | yes |  |
`,
    )
  })

  it("throws when a name has two types", () => {
    const other = notification("other", {
      params: Schema.Struct({ colour: Schema.String.annotate({ identifier: "Colour" }) }),
      since: "1",
      doc: "Tells.",
    })
    const mixed = dialect({ name: "mixed", clientToServer: [Paint], serverToClient: [other] })
    assert.throws(() => contractOf(mixed), "two types are named Colour")
  })
})
