/** The marks that make V8 compile a function with its file, and that they change nothing of what the code does. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type FunctionRange, markEager } from "../../bundle/EagerFunctions.ts"

/** The place of a part of the code. */
const rangeOf = (code: string, part: string): FunctionRange => {
  const start = code.indexOf(part)
  assert.notStrictEqual(start, -1, part)
  return { start, end: start + part.length }
}

const marked = (code: string, ...parts: ReadonlyArray<string>) =>
  markEager(
    code,
    parts.map((part) => rangeOf(code, part)),
  )

/** What a module exports, as text. */
const exportsOf = (code: string) =>
  Effect.promise(async () => {
    const module = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as object
    return JSON.stringify(module)
  })

const program = `
const inner=(a)=>b=>a+b;
const gen=function*(n){for(let i=0;i<n;i++)yield i};
function fact(n){return n<2?1:n*fact(n-1)}
function list(...n){return n.map(one=>fact(one))}
const key="k",o={m(a){return this.x+a},x:1,*[key](n){yield*gen(n)},get y(){return 2},async z(){return 3}};
class A{#v=(()=>4)();v(){return this.#v}}
const p={__proto__:o,m(a){return super.m(a)+1}};
export const all=[inner(1)(2),[...gen(3)],list(3,4),o.m(1),[...o.k(2)],o.y,await o.z(),new A().v(),p.m(1)];
export const names=[inner.name,gen.name,fact.name,o.m.name,o.k.name];
export{fact as default};
`

describe("marking functions of a file", () => {
  it("encloses expressions in parentheses", () => {
    assert.strictEqual(marked("const f=a=>a+1;", "a=>a+1"), "const f=(a=>a+1);")
    assert.strictEqual(
      marked("const f=async a=>a;g(function(){})", "async a=>a", "function(){}"),
      "const f=(async a=>a);g((function(){}))",
    )
  })

  it("tells arrow functions apart that end at the same place", () => {
    assert.strictEqual(marked("f(a=>b=>a)", "b=>a"), "f(a=>(b=>a))")
    assert.strictEqual(marked("f(a=>b=>a)", "a=>b=>a"), "f((a=>b=>a))")
    assert.strictEqual(marked("f(a=>b=>a)", "a=>b=>a", "b=>a"), "f((a=>(b=>a)))")
  })

  it("makes methods of objects properties", () => {
    assert.strictEqual(
      marked("x={m(a){return a},*[k](){}}", "m(a){return a}", "*[k](){}"),
      "x={m:(function(a){return a}),[k]:(function*(){})}",
    )
  })

  it("moves declarations to the begin, where they can be called before their place", () => {
    assert.strictEqual(
      marked("f();function f(){return()=>1}export{f};", "function f(){return()=>1}", "()=>1"),
      "var f=(function f(){return(()=>1)});f();export{f};",
    )
  })

  it("leaves what has no such form as it is", () => {
    for (const [code, part] of [
      ["class A{m(){return 1}}", "m(){return 1}"],
      ["class A{constructor(){}}", "constructor(){}"],
      ["x={m(){return super.m()}}", "m(){return super.m()}"],
      ["x={async m(){}}", "async m(){}"],
      ["x={get m(){return 1}}", "get m(){return 1}"],
      ["{function f(){}}", "function f(){}"],
      ["const f=()=>1;", "f="],
    ] as const) {
      assert.strictEqual(marked(code, part), code)
    }
    assert.strictEqual(markEager("const f=()=>1;", []), "const f=()=>1;")
  })

  it.effect("changes nothing of what a program does", () =>
    Effect.gen(function* () {
      const everyEnd = Array.from(program, (_, end) => end + 1)
      const functions = ["(a)=>b=>a+b", "b=>a+b", "(()=>4)", "()=>4", "one=>fact(one)"].map(
        (part) => rangeOf(program, part),
      )
      // A function that is no arrow is found by its end alone.
      const ends = everyEnd.map((end) => ({ start: 0, end }))
      const code = markEager(program, [...functions, ...ends])
      assert.isAbove(code.length, program.length + 20)
      const exported = yield* exportsOf(program)
      assert.include(exported, `[3,[0,1,2],[6,24],2,[0,1],2,3,4,3]`)
      assert.strictEqual(yield* exportsOf(code), exported)
    }),
  )
})
