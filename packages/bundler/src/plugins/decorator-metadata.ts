/** A node of the syntax tree, with the fields that are read. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

interface Insertion {
  readonly at: number
  readonly text: string
}

const HELPER = '__terraneMetadata'
/** A declaration, so that it exists before the classes; on the last line, so that line numbers stay the same. */
const DECLARATION = `;function ${HELPER}(key, value) { return typeof Reflect.metadata === 'function' ? Reflect.metadata(key, value) : () => {} }`
/** Values for types that are keywords. */
const KEYWORDS: Readonly<Record<string, string>> = {
  TSStringKeyword: 'String',
  TSTemplateLiteralType: 'String',
  TSNumberKeyword: 'Number',
  TSBooleanKeyword: 'Boolean',
  TSTypePredicate: 'Boolean',
  TSBigIntKeyword: 'BigInt',
  TSSymbolKeyword: 'Symbol',
  TSArrayType: 'Array',
  TSTupleType: 'Array',
  TSFunctionType: 'Function',
  TSConstructorType: 'Function',
  TSVoidKeyword: 'void 0',
  TSUndefinedKeyword: 'void 0',
  TSNullKeyword: 'void 0',
  TSNeverKeyword: 'void 0',
}
const LITERALS: Readonly<Record<string, string>> = {
  string: 'String',
  number: 'Number',
  boolean: 'Boolean',
  bigint: 'BigInt',
}

/**
 * Adds the decorators that TypeScript emits for `emitDecoratorMetadata`: the types of decorated classes, their
 * parameters and members, which frameworks such as NestJS inject by. Lines stay. A source that cannot be parsed is left
 * as it is, because the bundler reports its errors.
 */
export async function withDecoratorMetadata(path: string, code: string): Promise<string> {
  if (!code.includes('@')) return code
  // It is large, and most functions do not need it.
  const { parseSync } = await import('oxc-parser')
  const { program, errors } = parseSync(path, code)
  if (errors.length > 0) return code
  const insertions: Insertion[] = []
  const source = new Source(code, nodesIn(program.body))
  visit(program as unknown as Node, null, (node, parent) => insertions.push(...insertionsOf(node, parent, source)))
  if (insertions.length === 0) return code
  let [text, at] = ['', 0]
  for (const insertion of insertions.toSorted((a, b) => a.at - b.at)) {
    text += code.slice(at, insertion.at) + insertion.text
    at = insertion.at
  }
  return `${text}${code.slice(at)}\n${DECLARATION};${source.imports}`
}

/** The text of a module, and what it imports. */
class Source {
  readonly #code: string
  /** Local names: expressions for their values, null for types. */
  readonly #imported = new Map<string, string | null>()
  readonly #used = new Set<string>()

  constructor(code: string, body: readonly Node[]) {
    this.#code = code
    for (const [index, each] of body.filter(({ type }) => type === 'ImportDeclaration').entries())
      for (const specifier of nodesIn(each['specifiers'])) this.#add(each, specifier, index)
  }

  /** Namespaces of the modules whose members stand for types: a name that is only a type is absent there, and no error. */
  get imports(): string {
    return [...this.#used].join(';')
  }

  /** The class that a name stands for at run time. Interfaces, parameters of types and enums are Object. */
  valueOf({ start, end }: Node): string {
    const [first = '', ...rest] = this.#code.slice(start, end).split('.')
    const found = this.#imported.get(first)
    if (found === null) return 'Object'
    const [local, from] = found?.split(' from ', 2) ?? [first]
    if (from !== undefined) this.#used.add(`import * as ${local!.split('.', 1)[0]} from ${from}`)
    const name = [local, ...rest].join('?.')
    return `typeof ${local} !== 'undefined' && typeof ${name} === 'function' ? ${name} : Object`
  }

  #add({ importKind, source }: Node, { type, importKind: ofName, local, imported }: Node, index: number): void {
    const name = (local as Node)['name'] as string
    if (importKind === 'type' || ofName === 'type') return void this.#imported.set(name, null)
    if (type === 'ImportNamespaceSpecifier') return
    const member = type === 'ImportDefaultSpecifier' ? 'default' : ((imported as Node)['name'] as string)
    const { start, end } = source as Node
    this.#imported.set(name, `__terraneTypes${index}.${member} from ${this.#code.slice(start, end)}`)
  }
}

function visit(node: Node, parent: Node | null, enter: (node: Node, parent: Node | null) => void): void {
  enter(node, parent)
  for (const value of Object.values(node)) for (const child of nodesIn(value)) visit(child, node, enter)
}

/** The metadata of a class and its members; none for other nodes. */
function insertionsOf(node: Node, parent: Node | null, source: Source): Insertion[] {
  if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') return []
  const members = nodesIn((node['body'] as Node)['body'])
  const parameters = paramsOf(members.find(({ kind }) => kind === 'constructor'))
  const isDecorated = decoratorsOf(node).length > 0 || parameters.some((each) => decoratorsOf(each).length > 0)
  const insertions: Insertion[] = []
  if (isDecorated && parameters.length > 0) {
    const start = parent?.type.startsWith('Export') ? parent.start : node.start
    const at = decoratorsOf(node).at(-1)?.end ?? start
    insertions.push({ at, text: ` @${HELPER}('design:paramtypes', ${listOf(parameters, source)}) ` })
  }
  for (const member of members) {
    const isMethod = member.type === 'MethodDefinition' && member['kind'] === 'method'
    const at = decoratorsOf(member).at(-1)?.end
    if (at === undefined && !(isMethod && paramsOf(member).some((each) => decoratorsOf(each).length > 0))) continue
    const text = isMethod
      ? methodMetadata(member, source)
      : `@${HELPER}('design:type', ${accessedType(member, source)})`
    insertions.push({ at: at ?? member.start, text: ` ${text} ` })
  }
  return insertions
}

function methodMetadata(member: Node, source: Source): string {
  const { returnType, async: isAsync } = member['value'] as Node
  const returned = returnType
    ? valueOf((returnType as Node)['typeAnnotation'] as Node, source)
    : isAsync
      ? 'Promise'
      : 'void 0'
  return [
    ['type', 'Function'],
    ['paramtypes', listOf(paramsOf(member), source)],
    ['returntype', returned],
  ]
    .map(([key, value]) => `@${HELPER}('design:${key}', ${value})`)
    .join(' ')
}

/** Type of a property, a getter or a setter. */
function accessedType(member: Node, source: Source): string {
  const value = member['value'] as Node | null
  if (member['kind'] === 'set') return typeOf(paramsOf(member)[0], source)
  return typeOf(member['kind'] === 'get' ? { ...value!, typeAnnotation: value!['returnType'] } : member, source)
}

function listOf(parameters: readonly Node[], source: Source): string {
  return `[${parameters.map((parameter) => typeOf(parameter, source)).join(', ')}]`
}

/** Value for the type of a parameter or property; that of a rest parameter or without a type is Object. */
function typeOf(given: Node | undefined, source: Source): string {
  const inner = (given?.['parameter'] ?? given) as Node | undefined
  const target = (inner?.type === 'AssignmentPattern' ? inner['left'] : inner) as Node | undefined
  const annotation = target?.['typeAnnotation'] as Node | null | undefined
  return annotation && target?.type !== 'RestElement' ? valueOf(annotation['typeAnnotation'] as Node, source) : 'Object'
}

/** The value that stands for a type at run time. Interfaces and parameters of types have none, and are Object. */
function valueOf(type: Node, source: Source): string {
  const keyword = KEYWORDS[type.type]
  if (keyword !== undefined) return keyword
  if (type.type === 'TSLiteralType') return LITERALS[typeof (type['literal'] as Node)['value']] ?? 'Object'
  if (type.type === 'TSParenthesizedType') return valueOf(type['typeAnnotation'] as Node, source)
  if (type.type === 'TSUnionType') {
    const values = new Set(nodesIn(type['types']).map((each) => valueOf(each, source)))
    values.delete('void 0')
    return values.size === 1 ? [...values][0]! : 'Object'
  }
  if (type.type !== 'TSTypeReference') return 'Object'
  return source.valueOf(type['typeName'] as Node)
}

function paramsOf(method: Node | undefined): Node[] {
  return nodesIn((method?.['value'] as Node | undefined)?.['params'])
}

function decoratorsOf(node: Node): Node[] {
  return nodesIn(node['decorators'])
}

/** The nodes in a field: one, a list, or none. */
function nodesIn(value: unknown): Node[] {
  return [value].flat().filter((each): each is Node => typeof (each as Node | null)?.type === 'string')
}
