/** An array of at least `length` rows: the same, or one of twice the length, which detaches it for its memory. */
export function growFloat64(array: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  return array.length >= length ? array : new Float64Array(array.buffer.transfer(8 * room(array.length, length)))
}

export function growInt32(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  return array.length >= length ? array : new Int32Array(array.buffer.transfer(4 * room(array.length, length)))
}

export function growUint32(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  return array.length >= length ? array : new Uint32Array(array.buffer.transfer(4 * room(array.length, length)))
}

export function growUint16(array: Uint16Array<ArrayBuffer>, length: number): Uint16Array<ArrayBuffer> {
  return array.length >= length ? array : new Uint16Array(array.buffer.transfer(2 * room(array.length, length)))
}

export function growUint8(array: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  return array.length >= length ? array : new Uint8Array(array.buffer.transfer(room(array.length, length)))
}

function room(have: number, want: number): number {
  return Math.max(want, have * 2, 64)
}
