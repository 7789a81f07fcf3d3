/**
 * Optional members from values that may be undefined. With `exactOptionalPropertyTypes` an absent member and one that
 * is undefined are different types; `defined` turns the second into the first.
 */

type Defined<A> = { [K in keyof A as undefined extends A[K] ? never : K]: A[K] } & {
  [K in keyof A as undefined extends A[K] ? K : never]?: Exclude<A[K], undefined>
}

/** A copy without the members whose value is undefined. Null and other values stay. */
export const defined = <A extends object>(members: A): Defined<A> => {
  const left: Record<string, unknown> = {}
  // Without arrays of the members: some of these objects are made for every event.
  for (const name in members) {
    if (Object.hasOwn(members, name) && members[name] !== undefined) left[name] = members[name]
  }
  // What is left has exactly the members that the type names.
  return left as Defined<A>
}

/**
 * The optional members of an interface. An object that passes each of them on says so with `satisfies`, which demands every
 * one, so that none that is added later is left out.
 */
export type OptionalMembers<A> = Readonly<Record<OptionalKeys<A>, unknown>>

type OptionalKeys<A> = { [K in keyof A]-?: object extends Pick<A, K> ? K : never }[keyof A]
