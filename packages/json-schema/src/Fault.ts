/** What a value violates in a JSON Schema, as data: a caller turns it into its own texts. */

/** Keys of objects and indexes of arrays, from the checked value down. Empty for the value itself. */
export type Path = ReadonlyArray<string | number>

/** A number of characters, items or members that is outside of its bound. */
export interface SizeFault {
  readonly keyword:
    | "minLength"
    | "maxLength"
    | "minItems"
    | "maxItems"
    | "minProperties"
    | "maxProperties"
  readonly path: Path
  /** Code points for a string. */
  readonly size: number
  readonly expected: number
}

/** A number that is outside of its bound, or no multiple. */
export interface NumberFault {
  readonly keyword: "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
  readonly path: Path
  readonly value: number
  readonly expected: number
}

/** One violation. `keyword` is the keyword of the schema that the value does not satisfy. */
export type Fault =
  /** The schema is `false`: no value is valid here. */
  | { readonly keyword: "false"; readonly path: Path }
  | {
      readonly keyword: "type"
      readonly path: Path
      readonly value: unknown
      /** The allowed types, as the schema names them. */
      readonly expected: ReadonlyArray<string>
    }
  | {
      readonly keyword: "const" | "enum"
      readonly path: Path
      readonly value: unknown
      readonly expected: ReadonlyArray<unknown>
    }
  | {
      readonly keyword: "pattern"
      readonly path: Path
      readonly value: string
      /** The source of the regular expression. */
      readonly expected: string
    }
  | {
      readonly keyword: "required" | "dependentRequired"
      /** Of the missing member. */
      readonly path: Path
      /** The first type that the schema allows for the member; absent when it allows any. */
      readonly expected?: string
    }
  | {
      readonly keyword: "additionalProperties"
      /** Of the member that is not allowed. */
      readonly path: Path
      readonly name: string
      /** Names of the members that the schema describes. */
      readonly known: ReadonlyArray<string>
    }
  | { readonly keyword: "uniqueItems"; readonly path: Path }
  | {
      readonly keyword: "contains"
      readonly path: Path
      /** Number of items that match. */
      readonly found: number
      readonly min: number
      /** `Infinity` when the schema has no `maxContains`. */
      readonly max: number
    }
  /** Several alternatives match where exactly one must. */
  | { readonly keyword: "oneOf"; readonly path: Path; readonly matching: number }
  | { readonly keyword: "not"; readonly path: Path; readonly value: unknown }
  | SizeFault
  | NumberFault
  /** The check was abandoned: it says nothing about the value. `depth` is given with the start of the path. */
  | {
      readonly keyword: "limit"
      readonly path: Path
      readonly limit: "steps" | "depth"
      readonly expected: number
    }
