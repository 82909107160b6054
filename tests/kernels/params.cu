// Parameters of every kind of scalar, in a kernel that fails.
namespace job
{
enum Mode { Slow = -2, Plain = 0, Fast = 7 };
enum class Level : unsigned char { Low = 3, High = 200 };
} // namespace job
struct Flags {
	unsigned a : 3, b : 7;
	int c : 5;
	bool on;
	double part[2];
};

extern "C" __global__ void params(bool yes, char letter, unsigned char byte, short narrow,
				  unsigned long long wide, double real, float single,
				  job::Mode mode, job::Level level, const int *from, Flags flags,
				  int *out)
{
	out[threadIdx.x] = yes + letter + byte + narrow + (int)wide + (int)real + (int)single +
			   mode + (int)level + flags.a + flags.b + flags.c + flags.on +
			   (int)flags.part[1] + *from;
}
