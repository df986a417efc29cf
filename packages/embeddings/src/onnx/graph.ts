import { PbfWriter } from 'pbf'

/** The name of a value that flows between nodes. */
export type Value = string

/** A node's attribute: a number is an integer, a list holds integers, a float is wrapped as `{ float }`. */
export type Attribute = number | string | readonly number[] | { readonly float: number }

/** A dimension: its size, or the name of a size that is known when the graph runs. */
export type Dimension = number | string

/** Target of tensor data outside of the graph: a file beside it. */
export interface ExternalData {
  /** The file's name, relative to the graph's own folder. */
  readonly location: string
  /** Receives the bytes in order; a tensor's offset is the total length before it. */
  readonly write: (bytes: Uint8Array) => void
}

/** Numbers of the tensor types in ONNX. */
const TYPES = { float32: 1, uint8: 2, int8: 3, int64: 7, float16: 10 } as const
export type TensorType = keyof typeof TYPES
const FLOAT = TYPES.float32
const INT64 = TYPES.int64
const ATTRIBUTE_TYPES = { float: 1, int: 2, string: 3, ints: 7 } as const

/**
 * Builds an ONNX graph and encodes it, deterministic to the byte.
 *
 * Source: ONNX IR version 8, operator set 17 (onnx.proto): field numbers as there.
 */
export class OnnxGraph {
  readonly #name: string
  readonly #external: ExternalData | null
  readonly #nodes: Uint8Array[] = []
  readonly #initializers: Uint8Array[] = []
  readonly #inputs: Uint8Array[] = []
  readonly #outputs: Uint8Array[] = []
  #values = 0
  #externalOffset = 0

  constructor(name: string, external: ExternalData | null = null) {
    this.#name = name
    this.#external = external
  }

  /** A tensor that the caller feeds; default float32. */
  input(name: string, shape: readonly Dimension[], type: TensorType = 'float32'): Value {
    this.#inputs.push(valueInfo(name, shape, type))
    return name
  }

  /** Converts the value to another type. */
  cast(value: Value, type: TensorType): Value {
    return this.op('Cast', [value], { to: TYPES[type] })
  }

  /** A constant of one byte, for the zero point of a quantization. */
  byte(value: number): Value {
    return this.#initializer(TYPES.uint8, [], Uint8Array.of(value), false)
  }

  /** A constant int8 tensor, row-major. */
  int8s(shape: readonly number[], values: Int8Array): Value {
    return this.#initializer(TYPES.int8, shape, new Uint8Array(values.buffer, values.byteOffset, values.length), true)
  }

  /** A constant float32 tensor, row-major. */
  floats(shape: readonly number[], values: ArrayLike<number>): Value {
    const data = Float32Array.from(values)
    return this.#initializer(FLOAT, shape, new Uint8Array(data.buffer), true)
  }

  /** A constant one-dimensional int64 tensor, for shapes, axes and indices. */
  ints(values: readonly number[]): Value {
    const data = BigInt64Array.from(values, BigInt)
    return this.#initializer(INT64, [values.length], new Uint8Array(data.buffer), false)
  }

  /** A node with one output. */
  op(type: string, inputs: readonly Value[], attributes: Readonly<Record<string, Attribute>> = {}): Value {
    const output = this.#fresh()
    this.#node(type, inputs, [output], attributes)
    return output
  }

  /** Declares `value` as the graph's output `name`. */
  output(name: string, shape: readonly Dimension[], value: Value, type: TensorType = 'float32'): void {
    this.#node('Identity', [value], [name], {})
    this.#outputs.push(valueInfo(name, shape, type))
  }

  /** The bytes of the `.onnx` file. */
  encode(): Uint8Array {
    return message((model) => {
      writeInteger(model, 1, 8)
      model.writeStringField(2, 'terrane')
      model.writeBytesField(7, this.#encodeGraph())
      model.writeBytesField(
        8,
        message((opset) => {
          opset.writeStringField(1, '')
          writeInteger(opset, 2, 17)
        }),
      )
    })
  }

  #encodeGraph(): Uint8Array {
    return message((graph) => {
      for (const node of this.#nodes) graph.writeBytesField(1, node)
      graph.writeStringField(2, this.#name)
      for (const initializer of this.#initializers) graph.writeBytesField(5, initializer)
      for (const input of this.#inputs) graph.writeBytesField(11, input)
      for (const output of this.#outputs) graph.writeBytesField(12, output)
    })
  }

  #fresh(): Value {
    return `v${this.#values++}`
  }

  #node(
    type: string,
    inputs: readonly Value[],
    outputs: readonly Value[],
    attributes: Readonly<Record<string, Attribute>>,
  ): void {
    const fields = Object.entries(attributes).map(([name, value]) => encodeAttribute(name, value))
    this.#nodes.push(
      message((node) => {
        for (const input of inputs) node.writeStringField(1, input)
        for (const output of outputs) node.writeStringField(2, output)
        node.writeStringField(4, type)
        for (const field of fields) node.writeBytesField(5, field)
      }),
    )
  }

  #initializer(type: number, shape: readonly number[], bytes: Uint8Array, mayBeExternal: boolean): Value {
    const name = this.#fresh()
    const tensor = new PbfWriter()
    for (const size of shape) writeInteger(tensor, 1, size)
    writeInteger(tensor, 2, type)
    tensor.writeStringField(8, name)
    if (this.#external && mayBeExternal) {
      writeExternal(tensor, this.#external.location, this.#externalOffset, bytes.length)
      this.#external.write(bytes)
      this.#externalOffset += bytes.length
    } else {
      tensor.writeBytesField(9, bytes)
    }
    this.#initializers.push(tensor.finish())
    return name
  }
}

function encodeAttribute(name: string, value: Attribute): Uint8Array {
  return message((field) => {
    const end = (type: keyof typeof ATTRIBUTE_TYPES) => writeInteger(field, 20, ATTRIBUTE_TYPES[type])
    field.writeStringField(1, name)
    if (typeof value === 'number') {
      writeInteger(field, 3, value)
      end('int')
    } else if (typeof value === 'string') {
      field.writeStringField(4, value)
      end('string')
    } else if ('float' in value) {
      field.writeFloatField(2, value.float)
      end('float')
    } else {
      for (const item of value) writeInteger(field, 8, item)
      end('ints')
    }
  })
}

function writeExternal(tensor: PbfWriter, location: string, offset: number, length: number): void {
  const entries = { location, offset: String(offset), length: String(length) }
  for (const [key, value] of Object.entries(entries)) {
    tensor.writeBytesField(
      13,
      message((entry) => {
        entry.writeStringField(1, key)
        entry.writeStringField(2, value)
      }),
    )
  }
  writeInteger(tensor, 14, 1)
}

function valueInfo(name: string, shape: readonly Dimension[], type: TensorType): Uint8Array {
  const dimensions = message((list) => {
    for (const size of shape) {
      const dimension = (one: PbfWriter) =>
        typeof size === 'number' ? writeInteger(one, 1, size) : one.writeStringField(2, size)
      list.writeBytesField(1, message(dimension))
    }
  })
  const tensor = message((described) => {
    writeInteger(described, 1, TYPES[type])
    described.writeBytesField(2, dimensions)
  })
  return message((info) => {
    info.writeStringField(1, name)
    info.writeBytesField(2, message((described) => described.writeBytesField(1, tensor))) // prettier-ignore
  })
}

function message(write: (pbf: PbfWriter) => void): Uint8Array {
  const pbf = new PbfWriter()
  write(pbf)
  return pbf.finish()
}

/** @throws RangeError for a number that pbf would round */
function writeInteger(pbf: PbfWriter, field: number, value: number): void {
  if (!Number.isSafeInteger(value)) throw new RangeError(`Field ${field} needs a safe integer, got ${value}.`)
  pbf.writeVarintField(field, value)
}
