/* A library whose functions stand in call paths of test_frame_symbols.c; built twice. */
int fsl_sample_leaf(int n);
int fsl_sample_train(int n);

#ifdef FSL_SAMPLE_OTHER
int fsl_sample_first(int n);
int fsl_sample_first(int n)
{
	return n * 31 + 7;
}
#endif

int fsl_sample_leaf(int n)
{
	return n * 3 + 1;
}

int fsl_sample_train(int n)
{
	return fsl_sample_leaf(n) + fsl_sample_leaf(n + 1);
}
