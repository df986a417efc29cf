export { PRODUCTS, productModel, productOfColumns } from './products.ts'
export type { EmbeddingProduct, ProductName } from './products.ts'
export { dequantize } from './quantization.ts'
export type { Quantization } from './quantization.ts'
