export { OnnxGraph } from './graph.ts'
export type { Attribute, Dimension, ExternalData, TensorType, Value } from './graph.ts'
export { VIT_SMALL, buildRandomVit } from './random-vit.ts'
export type { VitShape } from './random-vit.ts'
