/**
 * Finds the part of a tool's JSON Schema that a fault is about: references are resolved and unions are flattened, so that a
 * message can say what the field accepts. Knows the keywords that `jsonSchemaOf` emits. Pure.
 */
import { expectations, list } from "./ArgumentTexts.ts"

/** A JSON Schema with the keywords that are read here. */
export interface Node {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Node>>
  readonly type?: string | ReadonlyArray<string>
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Node>>
  readonly patternProperties?: Readonly<Record<string, Node>>
  readonly additionalProperties?: Node | boolean
  readonly items?: Node | boolean
  readonly prefixItems?: ReadonlyArray<Node>
  readonly anyOf?: ReadonlyArray<Node>
  readonly oneOf?: ReadonlyArray<Node>
  readonly allOf?: ReadonlyArray<Node>
  readonly minimum?: number
  readonly maximum?: number
}

const own = <A>(record: Readonly<Record<string, A>> | undefined, key: string): A | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined

const definition = /^#\/\$defs\/(.+)$/

const unescaped = (name: string) =>
  decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~")

/** The alternatives of a node, without references and unions. `seen` ends the recursion of a recursive schema. */
export const alternativesOf = (
  node: Node,
  root: Node,
  seen: ReadonlySet<string> = new Set(),
): ReadonlyArray<Node> => {
  const { $ref, allOf, anyOf, oneOf, ...plain } = node
  if ($ref !== undefined) {
    const name = definition.exec($ref)?.[1]
    const target = name === undefined ? undefined : own(root.$defs, unescaped(name))
    if (target === undefined || seen.has($ref)) return []
    return alternativesOf({ ...plain, ...target }, root, new Set([...seen, $ref]))
  }
  const union = anyOf ?? oneOf
  if (union !== undefined) {
    return union.flatMap((one) => alternativesOf({ ...plain, ...one }, root, seen))
  }
  if (allOf !== undefined) {
    const merged = allOf.reduce<Node>((all, one) => ({ ...all, ...one }), plain)
    return alternativesOf(merged, root, seen)
  }
  return Array.isArray(plain.type)
    ? plain.type.map((type: string): Node => ({ ...plain, type }))
    : [plain]
}

const isNode = (node: Node | boolean | undefined): node is Node => typeof node === "object"

/** The schemas that these nodes have for the member `key`; empty when they have no such member. */
export const membersOf = (
  nodes: ReadonlyArray<Node>,
  key: string,
  isItem: boolean,
): ReadonlyArray<Node> =>
  nodes.flatMap((node) => {
    const found = isItem
      ? (node.prefixItems?.[Number(key)] ?? node.items)
      : (own(node.properties, key) ??
        Object.values(node.patternProperties ?? {})[0] ??
        node.additionalProperties)
    return isNode(found) ? [found] : []
  })

/** The values that a node accepts; undefined when it is not limited to certain values. */
export const choicesOf = (node: Node): ReadonlyArray<unknown> | undefined =>
  node.enum ?? (node.const === undefined ? undefined : [node.const])

/** True for an object that is no array. */
export const isMembers = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** The tag of these nodes: a member that has a literal in each of them, and all its literals; undefined without one. */
export const tagOf = (
  nodes: ReadonlyArray<Node>,
): { readonly name: string; readonly node: Node } | undefined => {
  const [first, ...others] = nodes
  if (others.length === 0) return undefined
  for (const name of Object.keys(first?.properties ?? {})) {
    const literals = nodes.map(({ properties }) => choicesOf(own(properties, name) ?? {}))
    if (!literals.includes(undefined)) {
      return { name, node: { type: "string", enum: literals.flatMap((all) => all ?? []) } }
    }
  }
  return undefined
}

/** The nodes that a value was meant for, by its type and its tag; all of them when neither decides. */
export const meantBy = (nodes: ReadonlyArray<Node>, value: unknown): ReadonlyArray<Node> => {
  const fitting = nodes.filter((node) => takesKind(node, value))
  const tag = tagOf(fitting)
  if (tag === undefined || !isMembers(value)) return fitting.length === 0 ? nodes : fitting
  const tagged = fitting.filter(({ properties }) =>
    choicesOf(own(properties, tag.name) ?? {})?.includes(value[tag.name]),
  )
  return tagged.length === 0 ? fitting : tagged
}

const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : typeof value
}

/** True when a value has the type of a node, whatever its other constraints are. */
export const takesKind = ({ type }: Node, value: unknown): boolean =>
  type === undefined || type === kindOf(value) || (type === "integer" && Number.isInteger(value))

const expectationOf = (node: Node): string => {
  const type = typeof node.type === "string" ? node.type : undefined
  return type === undefined ? "another value" : (expectations[type] ?? type)
}

/** What the nodes accept, as a text: the values when they are limited to some, else the types. */
export const described = (nodes: ReadonlyArray<Node>): string => {
  const present = nodes.filter(({ type }) => type !== "null")
  const taken = present.length === 0 ? nodes : present
  const choices = taken.flatMap((node) => choicesOf(node) ?? [])
  const kinds = taken.filter((node) => choicesOf(node) === undefined).map(expectationOf)
  const named = choices.map((choice) =>
    typeof choice === "string" ? choice : JSON.stringify(choice),
  )
  const words = [...new Set([...(named.length === 0 ? [] : [`one of ${list(named)}`]), ...kinds])]
  return words.length === 0 ? "another value" : words.join(" or ")
}
